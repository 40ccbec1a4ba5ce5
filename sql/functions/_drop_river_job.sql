-- A deleted consolidation takes its River job along: nothing of a forgotten thread stays in a queue. A job
-- that is running finds its thread gone and ends by itself; River needs its row until then.
-- SECURITY DEFINER because a tenant has no rights on River's tables; a trigger cannot be called.
CREATE OR REPLACE FUNCTION hippocampus._drop_river_job()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    DELETE FROM hippocampus.river_job r USING old_rows o WHERE r.id = o.river_job_id AND r.state <> 'running';
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._drop_river_job IS 'Trigger: deletes the River jobs of deleted consolidations.';
REVOKE ALL ON FUNCTION hippocampus._drop_river_job FROM PUBLIC;

CREATE OR REPLACE TRIGGER consolidation_jobs_drop AFTER DELETE ON hippocampus.consolidation_jobs
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._drop_river_job();
