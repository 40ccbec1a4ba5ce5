-- Keeps consolidation_jobs true: its status is River's, moved in the transaction that moves River's,
-- whoever moves it: a worker, a rescue after a crash, a cancellation, a deletion by hand. A job that an
-- application inserted with River's own client gets its record here, when it is inserted or, if another
-- one waits at that time, when it starts.
CREATE OR REPLACE FUNCTION hippocampus._follow_river()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_status text;
    v_error text;
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NOT NEW.metadata ? 'consolidation_job_id' THEN
            INSERT INTO hippocampus.consolidation_jobs (thread_id, user_id, app_name, job_type, river_job_id)
            SELECT t.id, t.user_id, t.app_name, NEW.args ->> 'job_type', NEW.id
            FROM hippocampus.threads t WHERE t.id = (NEW.args ->> 'thread_id')::uuid
            FOR NO KEY UPDATE -- as enqueue_consolidation, so that both wait in one order
            ON CONFLICT (thread_id, job_type, user_id, app_name) WHERE status = 'pending' AND started_at IS NULL
            DO NOTHING;
        END IF;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' THEN
        UPDATE hippocampus.consolidation_jobs j
        SET status = 'cancelled', completed_at = now(), error = coalesce(j.error, 'its River job was deleted')
        WHERE j.river_job_id = OLD.id AND j.status IN ('pending', 'running');
        RETURN NULL;
    END IF;
    v_status := hippocampus._river_status(NEW.state::text);
    IF cardinality(NEW.errors) > coalesce(cardinality(OLD.errors), 0) THEN -- and not an older one again
        v_error := NEW.errors[array_upper(NEW.errors, 1)] ->> 'error';
    END IF;
    UPDATE hippocampus.consolidation_jobs j
    SET status = v_status,
        attempts = NEW.attempt,
        error = CASE v_status WHEN 'completed' THEN NULL ELSE coalesce(v_error, j.error) END,
        started_at = CASE v_status WHEN 'running' THEN now() ELSE j.started_at END,
        completed_at = CASE WHEN v_status IN ('completed', 'failed', 'cancelled') THEN now() END
    WHERE j.river_job_id = NEW.id;
    IF NOT FOUND AND v_status = 'running' THEN
        -- inserted with River's client while another one waited: it works, so it is recorded
        BEGIN
            INSERT INTO hippocampus.consolidation_jobs (thread_id, user_id, app_name, job_type, river_job_id, status,
                attempts, started_at)
            SELECT t.id, t.user_id, t.app_name, NEW.args ->> 'job_type', NEW.id, v_status, NEW.attempt, now()
            FROM hippocampus.threads t WHERE t.id = (NEW.args ->> 'thread_id')::uuid;
        EXCEPTION WHEN foreign_key_violation THEN
            NULL; -- the thread is being forgotten: the job will find nothing
        END;
    END IF;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._follow_river IS 'Trigger: moves a consolidation''s status with its River job.';
REVOKE ALL ON FUNCTION hippocampus._follow_river FROM PUBLIC;

CREATE OR REPLACE TRIGGER hippocampus_follow_insert AFTER INSERT ON hippocampus.river_job
    FOR EACH ROW WHEN (NEW.kind = 'consolidate') EXECUTE FUNCTION hippocampus._follow_river();
CREATE OR REPLACE TRIGGER hippocampus_follow_update AFTER UPDATE OF state ON hippocampus.river_job
    FOR EACH ROW WHEN (NEW.kind = 'consolidate' AND NEW.state IS DISTINCT FROM OLD.state)
    EXECUTE FUNCTION hippocampus._follow_river();
CREATE OR REPLACE TRIGGER hippocampus_follow_delete AFTER DELETE ON hippocampus.river_job
    FOR EACH ROW WHEN (OLD.kind = 'consolidate') EXECUTE FUNCTION hippocampus._follow_river();
