-- A deleted consolidation takes its River job along: nothing of a forgotten thread stays in a queue. A job
-- that is running finds its thread gone and ends by itself; River needs its row until then. So does one that
-- is locked, as it is just being fetched: waiting for it here, while it waits for its record there, would be
-- a deadlock.
-- SECURITY DEFINER because a tenant has no rights on River's tables; a trigger cannot be called.
CREATE OR REPLACE FUNCTION hippocampus._drop_river_job()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    WITH held AS (
        SELECT r.id FROM hippocampus.river_job r JOIN old_rows o ON o.river_job_id = r.id
        WHERE r.state <> 'running' AND r.kind = 'consolidate' AND r.args ->> 'thread_id' = o.thread_id::text
        FOR UPDATE OF r SKIP LOCKED)
    DELETE FROM hippocampus.river_job r USING held h WHERE r.id = h.id;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._drop_river_job IS 'Trigger: deletes the River jobs of deleted consolidations.';
REVOKE ALL ON FUNCTION hippocampus._drop_river_job FROM PUBLIC;

CREATE OR REPLACE TRIGGER consolidation_jobs_drop AFTER DELETE ON hippocampus.consolidation_jobs
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._drop_river_job();
