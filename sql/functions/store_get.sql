-- Reads only; let the item live its time again with store_refresh.
CREATE OR REPLACE FUNCTION hippocampus.store_get(
    p_user_id text,
    p_app_name text,
    p_namespace text[],
    p_key text,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.store_entries
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_path text := hippocampus._namespace_path(hippocampus._check_namespace('p_namespace', p_namespace));
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_size('p_key', p_key, 1, 512);
    PERFORM hippocampus._check_time('p_now', p_now);
    RETURN QUERY
    SELECT s.namespace, s.key, s.value, s.created_at, s.updated_at, s.expires_at, NULL::double precision
    FROM hippocampus.store_items s
    WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.path = v_path AND s.key = p_key
      AND (s.expires_at IS NULL OR s.expires_at > p_now);
END
$fn$;
COMMENT ON FUNCTION hippocampus.store_get IS
    'The item of a namespace and key; no row where there is none or its time is over.';
REVOKE ALL ON FUNCTION hippocampus.store_get FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.store_get TO hippocampus_reader, hippocampus_tenant, hippocampus_service;
