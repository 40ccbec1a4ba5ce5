-- Keeps sleep_reports true, as _follow_river keeps consolidation_jobs: a report's status is its River job's, moved in the
-- transaction that moves the job, whoever moves it. So one that was cancelled, whose worker died, or whose job
-- was deleted does not keep its user's next sleep from being enqueued.
CREATE OR REPLACE FUNCTION hippocampus._follow_sleep()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_id text := coalesce(NEW.args, OLD.args) ->> 'report_id';
    v_status text;
    v_error text;
BEGIN
    IF NOT pg_input_is_valid(v_id, 'uuid') IS TRUE THEN
        RETURN NULL; -- not enqueue_sleep's
    END IF;
    IF TG_OP = 'DELETE' THEN
        UPDATE hippocampus.sleep_reports r
        SET status = 'cancelled', completed_at = now(), error = coalesce(r.error, 'its River job was deleted')
        WHERE r.id = v_id::uuid AND r.status IN ('pending', 'running');
        RETURN NULL;
    END IF;
    v_status := hippocampus._river_status(NEW.state::text);
    IF cardinality(NEW.errors) > coalesce(cardinality(OLD.errors), 0) THEN
        v_error := left(NEW.errors[array_upper(NEW.errors, 1)] ->> 'error', 500);
    END IF;
    UPDATE hippocampus.sleep_reports r
    SET status = v_status,
        error = CASE v_status WHEN 'completed' THEN NULL ELSE coalesce(v_error, r.error) END,
        started_at = CASE v_status WHEN 'running' THEN now() ELSE r.started_at END,
        completed_at = CASE WHEN v_status IN ('completed', 'failed', 'cancelled') THEN now() END
    WHERE r.id = v_id::uuid;
    RETURN NULL;
EXCEPTION WHEN unique_violation THEN
    RETURN NULL; -- one that had ended is tried again while another sleep of the user waits: that one is told of
END
$fn$;
COMMENT ON FUNCTION hippocampus._follow_sleep IS 'Trigger: moves a sleep report''s status with its River job.';
REVOKE ALL ON FUNCTION hippocampus._follow_sleep FROM PUBLIC;

CREATE OR REPLACE TRIGGER hippocampus_follow_sleep_update AFTER UPDATE OF state ON hippocampus.river_job
    FOR EACH ROW WHEN (NEW.kind = 'sleep' AND NEW.state IS DISTINCT FROM OLD.state)
    EXECUTE FUNCTION hippocampus._follow_sleep();
CREATE OR REPLACE TRIGGER hippocampus_follow_sleep_delete AFTER DELETE ON hippocampus.river_job
    FOR EACH ROW WHEN (OLD.kind = 'sleep') EXECUTE FUNCTION hippocampus._follow_sleep();
