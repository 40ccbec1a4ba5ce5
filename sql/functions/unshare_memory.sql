CREATE OR REPLACE FUNCTION hippocampus.unshare_memory(
    p_user_id text,
    p_app_name text,
    p_memory_id uuid
) RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    UPDATE hippocampus.memories m SET visibility = 'private', shared_by = NULL
    WHERE m.id = p_memory_id AND m.user_id = p_user_id AND m.app_name = p_app_name AND m.visibility = 'app';
    RETURN FOUND;
END
$fn$;
COMMENT ON FUNCTION hippocampus.unshare_memory IS
    'Takes a shared memory back: others of the app no longer see it. False where it was not shared, or is unknown.';
REVOKE ALL ON FUNCTION hippocampus.unshare_memory FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.unshare_memory TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
