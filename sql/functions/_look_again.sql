-- Where a memory may fade sooner than was predicted (it was told again more calmly, or is of another category now),
-- the next sweep looks at it. A use makes it fade later, so it leaves forget_at alone and touches no index.
CREATE OR REPLACE FUNCTION hippocampus._look_again()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    NEW.forget_at := '0001-01-02 00:00:00+00';
    RETURN NEW;
END
$fn$;
COMMENT ON FUNCTION hippocampus._look_again IS 'Trigger: has the next sweep of retention look at a memory.';
REVOKE ALL ON FUNCTION hippocampus._look_again FROM PUBLIC;

CREATE OR REPLACE TRIGGER memories_look_again BEFORE UPDATE OF running_intensity, access_count, last_accessed_at, initial_score, category
    ON hippocampus.memories FOR EACH ROW
    WHEN (NEW.running_intensity < OLD.running_intensity OR NEW.access_count < OLD.access_count
        OR NEW.last_accessed_at < OLD.last_accessed_at OR NEW.initial_score < OLD.initial_score OR NEW.category <> OLD.category)
    EXECUTE FUNCTION hippocampus._look_again();
