CREATE OR REPLACE FUNCTION hippocampus.store_delete(
    p_user_id text,
    p_app_name text,
    p_namespace text[],
    p_key text,
    p_now timestamptz DEFAULT now()
) RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_path text := hippocampus._namespace_path(hippocampus._check_namespace('p_namespace', p_namespace));
    v_expires_at timestamptz;
BEGIN
    PERFORM hippocampus._check_time('p_now', p_now);
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_size('p_key', p_key, 1, 512);
    DELETE FROM hippocampus.store_items s
    WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.path = v_path AND s.key = p_key
    RETURNING s.expires_at INTO v_expires_at;
    RETURN FOUND AND coalesce(v_expires_at > p_now, true);
END
$fn$;
COMMENT ON FUNCTION hippocampus.store_delete IS
    'Deletes the item of a namespace and key, with its words and its vector; false where there was none.';
REVOKE ALL ON FUNCTION hippocampus.store_delete FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.store_delete TO hippocampus_tenant, hippocampus_service;
