CREATE OR REPLACE FUNCTION hippocampus.list_memories(
    p_user_id text,
    p_app_name text,
    p_memory_type text DEFAULT NULL,
    p_limit integer DEFAULT 50,
    p_offset integer DEFAULT 0,
    p_include_superseded boolean DEFAULT false,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.memories
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 50
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_limit', p_limit, 0, 10000);
    PERFORM hippocampus._check_one_of('p_memory_type', coalesce(p_memory_type, 'summary'), ARRAY['episodic', 'semantic', 'summary']);
    PERFORM hippocampus._check_range('p_offset', p_offset, 0, 1000000000);
    PERFORM hippocampus._check_time('p_now', p_now);
    RETURN QUERY
    WITH kinds AS MATERIALIZED (
        SELECT t.memory_type, c.category, p
        FROM unnest(ARRAY['episodic', 'semantic', 'summary']) AS t (memory_type)
        CROSS JOIN unnest(ARRAY['chat', 'observation', 'task', 'decision', 'tool-use', 'error', 'insight', 'other']) AS c (category)
        CROSS JOIN LATERAL hippocampus._retention_policy(p_app_name, t.memory_type, c.category) p
    )
    SELECT m.* FROM hippocampus.memories m
    JOIN kinds k ON k.memory_type = m.memory_type AND k.category = m.category
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name
      AND (p_memory_type IS NULL OR m.memory_type = p_memory_type)
      AND (p_include_superseded OR m.superseded_by IS NULL)
    ORDER BY hippocampus._retention(k.p, m.initial_score, m.running_intensity, m.access_count, m.last_accessed_at, m.created_at,
        p_now) DESC, m.created_at DESC, m.id
    LIMIT p_limit OFFSET p_offset;
END
$fn$;
COMMENT ON FUNCTION hippocampus.list_memories IS 'A user''s memories, best retained first by the scores of p_now, then newest; in pages. Superseded ones only with p_include_superseded.';
REVOKE ALL ON FUNCTION hippocampus.list_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.list_memories
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
