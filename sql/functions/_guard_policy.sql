-- The deployment's own policy stays: without it, what it says would silently be the built-in defaults. TG_ARGV names
-- the row, and what sets it.
CREATE OR REPLACE FUNCTION hippocampus._guard_policy()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RAISE EXCEPTION '% cannot go', TG_ARGV[0]
        USING ERRCODE = 'HC009', HINT = format('%s; it holds where no other does.', TG_ARGV[1]);
END
$fn$;
COMMENT ON FUNCTION hippocampus._guard_policy IS 'Trigger: refuses (HC009) the loss of the policy that holds where no other does.';
REVOKE ALL ON FUNCTION hippocampus._guard_policy FROM PUBLIC;

CREATE OR REPLACE TRIGGER retention_policies_guard
    BEFORE DELETE OR UPDATE OF app_name, memory_type, category ON hippocampus.retention_policies
    FOR EACH ROW WHEN (OLD.app_name = '*' AND OLD.memory_type = '*' AND OLD.category = '*')
    EXECUTE FUNCTION hippocampus._guard_policy('the retention policy of (*, *, *)', 'Change its values, or call apply_retention_preset(''*'', …)');
CREATE OR REPLACE TRIGGER consolidation_policies_guard
    BEFORE DELETE OR UPDATE OF app_name ON hippocampus.consolidation_policies
    FOR EACH ROW WHEN (OLD.app_name = '*')
    EXECUTE FUNCTION hippocampus._guard_policy('the consolidation policy of *', 'Change its values with put_consolidation_policy(''*'', …)');
CREATE OR REPLACE TRIGGER learning_policies_guard
    BEFORE DELETE OR UPDATE OF app_name ON hippocampus.learning_policies
    FOR EACH ROW WHEN (OLD.app_name = '*')
    EXECUTE FUNCTION hippocampus._guard_policy('the learning policy of *', 'Change its values with UPDATE');
