CREATE OR REPLACE FUNCTION hippocampus.store_list_namespaces(
    p_user_id text,
    p_app_name text,
    p_prefix text[] DEFAULT '{}',
    p_suffix text[] DEFAULT '{}',
    p_max_depth integer DEFAULT NULL,
    p_limit integer DEFAULT 100,
    p_offset integer DEFAULT 0,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.store_namespaces
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_prefix text[] := hippocampus._check_namespace('p_prefix', p_prefix, true);
    v_suffix text[] := hippocampus._check_namespace('p_suffix', p_suffix, true);
BEGIN
    PERFORM hippocampus._check_time('p_now', p_now);
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_max_depth', coalesce(p_max_depth, 1), 1, 2147483647);
    PERFORM hippocampus._check_range('p_limit', p_limit, 0, 10000);
    PERFORM hippocampus._check_range('p_offset', p_offset, 0, 1000000000);
    RETURN QUERY
    SELECT d.namespace FROM (
        SELECT DISTINCT s.namespace[:coalesce(p_max_depth, 32)] AS namespace
        FROM hippocampus._namespace_range(v_prefix) r
        JOIN hippocampus.store_items s ON s.user_id = p_user_id AND s.app_name = p_app_name
            AND s.path >= r.from_path AND s.path < r.until_path
        WHERE (s.expires_at IS NULL OR s.expires_at > p_now)
          AND hippocampus._namespace_matches(s.namespace, v_prefix)
          AND hippocampus._namespace_matches(s.namespace, v_suffix, true)) d
    ORDER BY hippocampus._namespace_path(d.namespace) COLLATE "C" LIMIT p_limit OFFSET p_offset;
END
$fn$;
COMMENT ON FUNCTION hippocampus.store_list_namespaces IS
    'The namespaces that have an item, in order: those that begin with p_prefix and end with p_suffix (* for any one segment), cut to their first p_max_depth segments.';
REVOKE ALL ON FUNCTION hippocampus.store_list_namespaces FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.store_list_namespaces TO hippocampus_reader, hippocampus_tenant, hippocampus_service;
