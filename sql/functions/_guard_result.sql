-- What a consolidation did is told by who did it. A bound login, which forgets, takes out ids of what it forgot, and
-- changes nothing else: the counts decide, for all users of an app, what is kept from then on.
CREATE OR REPLACE FUNCTION hippocampus._guard_result()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    c_ids CONSTANT text[] := ARRAY['episode_ids', 'fact_ids', 'insight_ids', 'summary_ids'];
BEGIN
    IF hippocampus._is_trusted() OR (jsonb_typeof(NEW.result) = 'object' AND NEW.result - c_ids = OLD.result - c_ids AND NOT EXISTS (
            SELECT FROM unnest(c_ids) AS k (name)
            WHERE NEW.result ? k.name IS DISTINCT FROM OLD.result ? k.name
               OR NOT coalesce(NEW.result -> k.name <@ (OLD.result -> k.name), true))) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the result of consolidation % would say what did not happen', OLD.id
        USING ERRCODE = '42501', HINT = 'A bound login takes ids out of a result, by forgetting, and nothing else.';
END
$fn$;
COMMENT ON FUNCTION hippocampus._guard_result IS
    'Trigger: raises 42501 where a bound login changes more of a consolidation''s result than the ids of what it forgot.';
REVOKE ALL ON FUNCTION hippocampus._guard_result FROM PUBLIC;

CREATE OR REPLACE TRIGGER consolidation_jobs_result BEFORE UPDATE OF result ON hippocampus.consolidation_jobs
    FOR EACH ROW WHEN (NEW.result IS DISTINCT FROM OLD.result) EXECUTE FUNCTION hippocampus._guard_result();
