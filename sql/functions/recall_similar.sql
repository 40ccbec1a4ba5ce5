-- A search over both tiers: memories by search_memory; events that are not memories yet, and what others share,
-- by the share of the query's words that they hold, and by meaning where a vector is known. An event has no
-- vector, so it counts as near in meaning as in words: as a memory does whose vector is still to come.
CREATE OR REPLACE FUNCTION hippocampus.recall_similar(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_query_embedding public.vector DEFAULT NULL,
    p_limit integer DEFAULT 10,
    p_types text[] DEFAULT NULL,
    p_tags text[] DEFAULT NULL,
    p_min_importance double precision DEFAULT 0,
    p_since timestamptz DEFAULT NULL,
    p_include_shared boolean DEFAULT false,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.recollections
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan -- to plan would take as long as a small tenant's search
AS $fn$
DECLARE
    v_terms text[] := hippocampus._query_terms(p_app_name, p_query);
    v_serving hippocampus.embedding_models;
    v_query public.halfvec;
    v_weights jsonb;
BEGIN
    PERFORM hippocampus._check_recall(p_user_id, p_app_name, p_types, p_tags, p_min_importance, p_limit, NULL, p_now);
    v_serving := hippocampus._query_generation(public.vector_dims(p_query_embedding));
    v_query := hippocampus._unit_vector('p_query_embedding', p_query_embedding, v_serving.dimension);
    v_weights := hippocampus._ranking(p_app_name, 'default', v_serving.model);
    RETURN QUERY
    WITH held AS (
        SELECT e AS row, CASE WHEN cardinality(v_terms) > 0 THEN (SELECT count(*) FROM hippocampus._terms_of(p_user_id, p_app_name, 'event', e.id) t
                WHERE t.term = ANY (v_terms))::double precision / cardinality(v_terms) END AS words,
            NULL::double precision AS meaning
        FROM hippocampus._short_term(p_user_id, p_app_name, NULL, p_now) e
        UNION ALL
        SELECT s, CASE WHEN cardinality(v_terms) > 0 THEN (SELECT count(*) FROM unnest(v_terms) AS q (term)
                WHERE q.term = ANY (t.terms))::double precision / cardinality(v_terms) END,
            CASE WHEN t.generation = v_serving.generation THEN greatest(0, -(t.embedding OPERATOR(public.<#>) v_query)) END
        FROM hippocampus._shared(p_user_id, p_app_name, 10000) s
        JOIN hippocampus.shared_memories t ON t.memory_id = s.id AND t.app_name = p_app_name AND t.user_id <> p_user_id
        WHERE p_include_shared
    ), scored AS (
        SELECT (h.row).*, coalesce((v_weights -> 'text')::double precision, 0) * coalesce(h.words, 0)
            + coalesce((v_weights -> 'vector')::double precision, 0) * coalesce(h.meaning, h.words, 0)
            + coalesce((v_weights -> 'strength')::double precision, 0) * (h.row).importance
            + coalesce((v_weights -> 'recency')::double precision, 0)
                * exp(-least(700, 0.01 * greatest(0, extract(epoch FROM p_now - (h.row).occurred_at)::double precision) / 86400)) AS total
        FROM held h WHERE coalesce(h.words, 0) > 0 OR h.meaning > 0 OR cardinality(v_terms) = 0 AND p_query_embedding IS NULL
    ), merged AS (
        SELECT 'long' AS tier, m.id, m.category, m.memory_type, m.content, s.score,
            hippocampus._effective_importance(m.importance, m.access_count) AS importance, m.tags, m.metadata AS context, m.author,
            m.source, m.thread_id, m.from_seq, m.to_seq, m.occurred_from AS occurred_at, m.last_accessed_at, m.access_count,
            NULL::text AS shared_by
        FROM hippocampus.search_memory(p_user_id, p_app_name, p_query, p_query_embedding,
            CASE WHEN p_min_importance > 0 THEN least(10000, 10 * p_limit) ELSE p_limit END, p_categories => p_types, p_tags => p_tags,
            p_since => p_since, p_now => p_now) s
        CROSS JOIN LATERAL hippocampus._memory_row(p_user_id, p_app_name, s.memory_id) m
        UNION ALL
        SELECT r.tier, r.id, r.category, r.memory_type, r.content, r.total, r.importance, r.tags, r.context, r.author, r.source,
            r.thread_id, r.from_seq, r.to_seq, r.occurred_at, r.last_accessed_at, r.access_count, r.shared_by
        FROM scored r
        WHERE (p_types IS NULL OR r.category = ANY (p_types)) AND r.tags @> coalesce(p_tags, '{}')
          AND (p_since IS NULL OR r.occurred_at >= p_since)
    )
    SELECT r.* FROM merged r
    WHERE r.importance >= p_min_importance
    ORDER BY r.score DESC, r.occurred_at DESC, r.id LIMIT p_limit;
END
$fn$;
COMMENT ON FUNCTION hippocampus.recall_similar IS
    'Searches both tiers by words and, where p_query_embedding is given, by meaning; best first. Memories are scored as by search_memory; events of short-term memory, and with p_include_shared what others of the app share, by the same weights. Reads only; count a use with record_access.';
REVOKE ALL ON FUNCTION hippocampus.recall_similar FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.recall_similar
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
