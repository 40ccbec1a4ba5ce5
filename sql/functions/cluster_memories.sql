CREATE OR REPLACE FUNCTION hippocampus.cluster_memories(
    p_user_id text,
    p_app_name text,
    p_cluster_id uuid,
    p_limit integer DEFAULT 50
) RETURNS SETOF hippocampus.recollections
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 50
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_limit', p_limit, 0, 10000);
    RETURN QUERY
    SELECT 'long', m.id, m.category, m.memory_type, m.content, 0::double precision,
        hippocampus._effective_importance(m.importance, m.access_count), m.tags, m.metadata, m.author, m.source, m.thread_id,
        m.from_seq, m.to_seq, m.occurred_from, m.last_accessed_at, m.access_count, NULL::text, m.trust
    FROM hippocampus.memory_cluster_members c
    JOIN hippocampus.memories m ON m.id = c.memory_id AND m.user_id = p_user_id AND m.app_name = p_app_name
    WHERE c.cluster_id = p_cluster_id AND c.user_id = p_user_id AND c.app_name = p_app_name
    ORDER BY m.occurred_from, m.id LIMIT p_limit;
END
$fn$;
COMMENT ON FUNCTION hippocampus.cluster_memories IS 'The memories of a cluster, oldest first; none where it is unknown or forgotten.';
REVOKE ALL ON FUNCTION hippocampus.cluster_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.cluster_memories
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
