-- Enqueues the worker's job that builds vector indexes, in the caller's transaction, and wakes a worker at commit.
-- p_args are those of IndexArgs: one that is to wait comes again where another one is at work, which may have begun
-- before there was what this one is for.
CREATE OR REPLACE FUNCTION hippocampus._enqueue_indexing(
    p_args jsonb
) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_id bigint;
BEGIN
    INSERT INTO hippocampus.river_job (kind, args, queue, max_attempts)
    VALUES ('index_vectors', p_args, 'maintenance', 3) RETURNING id INTO v_id;
    PERFORM pg_notify('hippocampus.river_insert', '{"queue":"maintenance"}');
    RETURN v_id;
END
$fn$;
COMMENT ON FUNCTION hippocampus._enqueue_indexing IS 'Enqueues the job that builds vector indexes; returns the id of its row in river_job.';
REVOKE ALL ON FUNCTION hippocampus._enqueue_indexing FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._enqueue_indexing TO hippocampus_service, hippocampus_worker;
