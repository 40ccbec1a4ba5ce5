-- Gives a new consolidation its River job, in the same transaction, and wakes a worker at commit.
-- SECURITY DEFINER because a tenant has no rights on River's tables; a trigger cannot be called, and what
-- it enqueues is the row that the tenant's own policies let it write.
CREATE OR REPLACE FUNCTION hippocampus._enqueue_river()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF NEW.river_job_id IS NULL THEN
        -- pre-ordained, so that the record can point at the job before either row exists
        NEW.river_job_id := nextval('hippocampus.river_job_id_seq');
        INSERT INTO hippocampus.river_job (id, kind, args, queue, max_attempts, metadata)
        VALUES (NEW.river_job_id, 'consolidate',
            jsonb_build_object('thread_id', NEW.thread_id, 'job_type', NEW.job_type),
            'consolidation', 8, jsonb_build_object('consolidation_job_id', NEW.id));
        PERFORM pg_notify('hippocampus.river_insert', '{"queue":"consolidation"}');
    END IF;
    RETURN NEW;
END
$fn$;
COMMENT ON FUNCTION hippocampus._enqueue_river IS 'Trigger: enqueues the River job of a consolidation and notifies the worker at commit.';
REVOKE ALL ON FUNCTION hippocampus._enqueue_river FROM PUBLIC;

CREATE OR REPLACE TRIGGER consolidation_jobs_enqueue BEFORE INSERT ON hippocampus.consolidation_jobs
    FOR EACH ROW EXECUTE FUNCTION hippocampus._enqueue_river();
