-- Asks the worker to build all vector indexes anew, online. Part of the caller's transaction; a worker starts at commit.
CREATE OR REPLACE FUNCTION hippocampus.index_memory()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RETURN hippocampus._enqueue_indexing('{"reindex": true, "wait": true}');
END
$fn$;
COMMENT ON FUNCTION hippocampus.index_memory IS
    'Has a worker build the vector indexes anew, after a bulk import; searches and writes go on. Returns the id of its row in river_job, whose metadata tells the progress. For the service and the worker.';
REVOKE ALL ON FUNCTION hippocampus.index_memory FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.index_memory TO hippocampus_service, hippocampus_worker;
