-- A thread, locked until the transaction ends: writers of a thread follow each other here, and whoever deletes its
-- user waits for them. No row where it is unknown.
CREATE OR REPLACE FUNCTION hippocampus._lock_thread(
    p_thread_id uuid
) RETURNS SETOF hippocampus.threads
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._write_scope(t.user_id, t.app_name) FROM hippocampus.threads t WHERE t.id = p_thread_id;
    RETURN QUERY SELECT t.* FROM hippocampus.threads t WHERE t.id = p_thread_id FOR NO KEY UPDATE;
END
$fn$;
COMMENT ON FUNCTION hippocampus._lock_thread IS 'Locks a thread, and the scope that it is of before it, and returns its row.';
REVOKE ALL ON FUNCTION hippocampus._lock_thread FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._lock_thread TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
