CREATE OR REPLACE FUNCTION hippocampus.list_clusters(
    p_user_id text,
    p_app_name text,
    p_start timestamptz DEFAULT NULL,
    p_end timestamptz DEFAULT NULL,
    p_limit integer DEFAULT 50
) RETURNS SETOF hippocampus.named_clusters
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 50
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_limit', p_limit, 0, 10000);
    RETURN QUERY
    SELECT c.id, m.content, c.started_at, c.ended_at, (
            SELECT count(*) FROM hippocampus.memory_cluster_members k
            WHERE k.cluster_id = c.id AND k.user_id = p_user_id AND k.app_name = p_app_name), c.created_at, c.model
    FROM hippocampus.memory_clusters c
    JOIN hippocampus.memories m ON m.id = c.id AND m.user_id = p_user_id AND m.app_name = p_app_name
    WHERE c.user_id = p_user_id AND c.app_name = p_app_name AND (p_start IS NULL OR c.ended_at >= p_start)
      AND (p_end IS NULL OR c.started_at < p_end)
    ORDER BY c.started_at DESC, c.id LIMIT p_limit;
END
$fn$;
COMMENT ON FUNCTION hippocampus.list_clusters IS
    'The clusters of a user''s memories that reach into a time, newest first: groups of memories close in time and meaning, which sleeps make and name.';
REVOKE ALL ON FUNCTION hippocampus.list_clusters FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.list_clusters
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
