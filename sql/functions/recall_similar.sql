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
    v_browse boolean;
BEGIN
    PERFORM hippocampus._check_recall(p_user_id, p_app_name, p_types, p_tags, p_min_importance, p_limit, NULL, p_now);
    v_serving := hippocampus._query_generation(public.vector_dims(p_query_embedding));
    v_query := hippocampus._unit_vector('p_query_embedding', p_query_embedding, v_serving.dimension);
    v_weights := hippocampus._ranking(p_app_name, 'default', v_serving.model);
    v_browse := cardinality(v_terms) = 0 AND v_query IS NULL;
    RETURN QUERY
    WITH held AS (
        SELECT e.*, (SELECT count(*) FROM hippocampus._terms_of(p_user_id, p_app_name, 'event', e.id) t WHERE t.term = ANY (v_terms))
            / nullif(cardinality(v_terms), 0)::double precision AS words
        FROM hippocampus._short_term(p_user_id, p_app_name, NULL, p_now) e
        WHERE (p_types IS NULL OR e.category = ANY (p_types)) AND e.tags @> coalesce(p_tags, '{}')
          AND e.importance >= p_min_importance AND (p_since IS NULL OR e.occurred_at >= p_since)
    ), shared AS ( -- narrow: what is not among the best is not read whole
        SELECT s.memory_id, s.user_id, hippocampus._recollection_score(v_weights, s.words, s.meaning, s.importance, s.occurred_from, p_now) AS total
        FROM (
            SELECT o.memory_id, o.user_id, o.importance::numeric::double precision AS importance, o.occurred_from,
                CASE WHEN o.terms && v_terms THEN (SELECT count(*) FROM unnest(v_terms) AS q (term) WHERE q.term = ANY (o.terms))
                    / cardinality(v_terms)::double precision END AS words,
                CASE WHEN v_query IS NOT NULL AND o.generation = v_serving.generation THEN greatest(0, -(o.embedding OPERATOR(public.<#>) v_query)) END AS meaning
            FROM hippocampus._shared(p_user_id, p_app_name, p_types, NULL, p_tags, p_min_importance, p_since) o
            WHERE p_include_shared) s
        WHERE s.words > 0 OR s.meaning > 0 OR v_browse
        ORDER BY total DESC, s.occurred_from DESC, s.memory_id, s.user_id LIMIT p_limit
    ), merged AS (
        SELECT 'long' AS tier, m.id, m.category, m.memory_type, m.content, s.score,
            hippocampus._effective_importance(m.importance, m.access_count) AS importance, m.tags, m.metadata AS context, m.author,
            m.source, m.thread_id, m.from_seq, m.to_seq, m.occurred_from AS occurred_at, m.last_accessed_at, m.access_count,
            NULL::text AS shared_by, m.trust
        FROM hippocampus.search_memory(p_user_id, p_app_name, p_query, p_query_embedding, p_limit, p_categories => p_types, p_tags => p_tags,
            p_since => p_since, p_now => p_now, p_min_importance => p_min_importance) s
        CROSS JOIN LATERAL hippocampus._memory_row(p_user_id, p_app_name, s.memory_id) m
        UNION ALL
        SELECT h.tier, h.id, h.category, h.memory_type, h.content, hippocampus._recollection_score(v_weights, h.words, NULL, h.importance,
            h.occurred_at, p_now), h.importance, h.tags, h.context, h.author, h.source, h.thread_id, h.from_seq, h.to_seq, h.occurred_at,
            h.last_accessed_at, h.access_count, h.shared_by, h.trust
        FROM held h WHERE h.words > 0 OR v_browse
        UNION ALL
        SELECT r.* FROM shared t
        JOIN hippocampus.shared_memories s ON s.memory_id = t.memory_id AND s.user_id = t.user_id AND s.app_name = p_app_name
        CROSS JOIN LATERAL hippocampus._shared_recollection(s, t.total) r
    )
    SELECT r.* FROM merged r ORDER BY r.score DESC, r.occurred_at DESC, r.id LIMIT p_limit;
END
$fn$;
COMMENT ON FUNCTION hippocampus.recall_similar IS
    'Searches both tiers by words and, where p_query_embedding is given, by meaning; best first. Memories are scored as by search_memory; events of short-term memory, and with p_include_shared what others of the app share, by the same weights. Reads only; count a use with record_access.';
REVOKE ALL ON FUNCTION hippocampus.recall_similar FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.recall_similar
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
