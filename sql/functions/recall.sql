-- What a persona remembers, of both tiers: short-term memory's events and long-term memory, filtered and merged,
-- newest first, without a search. An event that has become a memory is that memory. Reads only; count a use with
-- record_access, which makes memories more important: see _effective_importance.
CREATE OR REPLACE FUNCTION hippocampus.recall(
    p_user_id text,
    p_app_name text,
    p_types text[] DEFAULT NULL,
    p_tags text[] DEFAULT NULL,
    p_min_importance double precision DEFAULT 0,
    p_since timestamptz DEFAULT NULL,
    p_limit integer DEFAULT 50,
    p_context jsonb DEFAULT NULL,
    p_thread_id uuid DEFAULT NULL,
    p_memory_types text[] DEFAULT '{episodic,semantic}',
    p_include_shared boolean DEFAULT false,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.recollections
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 50
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_label text;
    v_context jsonb := hippocampus._check_object('p_context', p_context, 262144);
BEGIN
    PERFORM hippocampus._check_recall(p_user_id, p_app_name, p_types, p_tags, p_min_importance, p_limit, p_memory_types, p_now);
    v_label := hippocampus._rarest_label(p_user_id, p_app_name, p_tags, v_context);
    RETURN QUERY
    WITH own AS (
        (SELECT m.* FROM hippocampus.memories m
         WHERE v_label IS NULL AND m.user_id = p_user_id AND m.app_name = p_app_name AND m.superseded_by IS NULL
           AND (p_types IS NULL OR m.category = ANY (p_types)) AND (p_memory_types IS NULL OR m.memory_type = ANY (p_memory_types))
           AND (p_since IS NULL OR m.occurred_from >= p_since) AND (p_thread_id IS NULL OR m.thread_id = p_thread_id)
           AND hippocampus._effective_importance(m.importance, m.access_count) >= p_min_importance AND m.metadata @> v_context
         ORDER BY m.occurred_from DESC, m.from_seq DESC, m.id LIMIT p_limit)
        UNION ALL
        (SELECT m.* FROM hippocampus.memory_labels l
         JOIN hippocampus.memories m ON m.id = l.memory_id AND m.user_id = p_user_id AND m.app_name = p_app_name
         WHERE v_label IS NOT NULL AND l.user_id = p_user_id AND l.app_name = p_app_name AND l.label = v_label
           AND m.superseded_by IS NULL AND m.tags @> coalesce(p_tags, '{}') AND m.metadata @> v_context
           AND (p_types IS NULL OR m.category = ANY (p_types)) AND (p_memory_types IS NULL OR m.memory_type = ANY (p_memory_types))
           AND (p_since IS NULL OR l.occurred_from >= p_since) AND (p_thread_id IS NULL OR m.thread_id = p_thread_id)
           AND hippocampus._effective_importance(m.importance, m.access_count) >= p_min_importance
         ORDER BY l.occurred_from DESC, m.from_seq DESC, l.memory_id LIMIT p_limit)
    ), merged AS (
        SELECT 'long' AS tier, o.id, o.category, o.memory_type, o.content, 0::double precision AS score,
            hippocampus._effective_importance(o.importance, o.access_count) AS importance, o.tags, o.metadata AS context, o.author,
            o.source, o.thread_id, o.from_seq, o.to_seq, o.occurred_from AS occurred_at, o.last_accessed_at, o.access_count,
            NULL::text AS shared_by, o.trust
        FROM own o
        UNION ALL
        SELECT s.* FROM hippocampus._short_term(p_user_id, p_app_name, p_thread_id, p_now) s
        UNION ALL
        (SELECT r.* FROM hippocampus._shared(p_user_id, p_app_name, p_types, p_memory_types, p_tags, p_min_importance, p_since) s
         CROSS JOIN LATERAL hippocampus._shared_recollection(s, 0) r
         WHERE p_include_shared AND p_thread_id IS NULL AND v_context = '{}'
         ORDER BY s.occurred_from DESC, s.memory_id LIMIT p_limit)
    )
    SELECT r.* FROM merged r
    WHERE (p_types IS NULL OR r.category = ANY (p_types)) AND r.tags @> coalesce(p_tags, '{}') AND r.context @> v_context
      AND r.importance >= p_min_importance AND (p_since IS NULL OR r.occurred_at >= p_since)
    ORDER BY r.occurred_at DESC, r.from_seq DESC, r.id LIMIT p_limit;
END
$fn$;
COMMENT ON FUNCTION hippocampus.recall IS
    'What a user''s agent remembers, newest first: events of short-term memory and memories, an event that became a memory once. p_types are categories; p_tags and p_context (fields of metadata) must all hold; importance counts use in. p_thread_id keeps to one conversation; p_memory_types null takes summaries in. p_include_shared adds what others of the app share, but not with p_context: what is shared tells no context. Reads only; count a use with record_access.';
REVOKE ALL ON FUNCTION hippocampus.recall FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.recall
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
