-- How far a reindex came that index_memory asked for. What is not there is no answer: that it was completed could be wrong.
CREATE OR REPLACE FUNCTION hippocampus.index_progress(
    p_job_id bigint
) RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_progress jsonb;
BEGIN
    SELECT jsonb_build_object('state', j.state, 'error', j.errors[cardinality(j.errors)] ->> 'error')
        || coalesce(j.metadata -> 'progress', '{}') INTO v_progress
    FROM hippocampus.river_job j WHERE j.id = p_job_id AND j.kind = 'index_vectors';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no reindex %', coalesce(p_job_id::text, 'null')
            USING ERRCODE = 'HC011', HINT = 'Give the id that index_memory returned. One that was completed is kept for an hour.';
    END IF;
    RETURN v_progress;
END
$fn$;
COMMENT ON FUNCTION hippocampus.index_progress IS
    'How far a reindex came, by the id that index_memory gave: state, done, total and the last error. Raises HC011 where there is none, also an hour after it was completed. For the service and the worker.';
REVOKE ALL ON FUNCTION hippocampus.index_progress FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.index_progress TO hippocampus_service, hippocampus_worker;
