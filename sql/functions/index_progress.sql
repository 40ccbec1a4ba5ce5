-- How far a reindex came that index_memory asked for. A row that River has cleaned up was completed long ago.
CREATE OR REPLACE FUNCTION hippocampus.index_progress(
    p_job_id bigint
) RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RETURN coalesce((
        SELECT jsonb_build_object('state', j.state, 'error', j.errors[cardinality(j.errors)] ->> 'error')
            || coalesce(j.metadata -> 'progress', '{}')
        FROM hippocampus.river_job j WHERE j.id = p_job_id AND j.kind = 'index_vectors'), '{"state": "completed"}');
END
$fn$;
COMMENT ON FUNCTION hippocampus.index_progress IS
    'How far a reindex came, by the id that index_memory gave: state, done, total and the last error. For the service and the worker.';
REVOKE ALL ON FUNCTION hippocampus.index_progress FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.index_progress TO hippocampus_service, hippocampus_worker;
