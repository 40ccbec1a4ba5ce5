CREATE OR REPLACE FUNCTION hippocampus.block_get(
    p_user_id text,
    p_app_name text,
    p_key text
) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    RETURN (SELECT b.value FROM hippocampus.memory_blocks b
            WHERE b.user_id = p_user_id AND b.app_name = p_app_name AND b.key = p_key);
END
$fn$;
COMMENT ON FUNCTION hippocampus.block_get IS 'The value of a memory block; null where there is none.';
REVOKE ALL ON FUNCTION hippocampus.block_get FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.block_get
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
