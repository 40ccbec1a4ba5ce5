-- The candidates of a search that its filters let through, with what each is worth and what is known of it: all that
-- search_memory makes its score of. The arms are bounded (p_limit) where nothing is left out of what they found; a
-- filter, or a policy under which a weak memory is not remembered, may want just those that lie beyond. Of the model strength,
-- what is below 0.05 is not returned. A memory whose vector is still to come is as near in meaning as it is in words.
-- What is said in a conversation is meant with what stands around it: nearby_score is how far above the farthest that was found the
-- vector_score of the turns before and after it lies, on average; one that neither arm found adds nothing. Looking its vector up was no better.
-- Not for parallel queries, see _vector_hits.
CREATE OR REPLACE FUNCTION hippocampus._search_parts(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_query_embedding public.vector,
    p_limit integer,
    p_memory_types text[],
    p_categories text[],
    p_tags text[],
    p_thread_id uuid,
    p_since timestamptz,
    p_until timestamptz,
    p_profile text,
    p_now timestamptz,
    p_project_anchors text[],
    p_min_importance double precision,
    p_evidence jsonb,
    p_when tstzrange,
    p_serving hippocampus.embedding_models
) RETURNS TABLE (row_id uuid, occurred_until timestamptz, thread_id uuid, from_seq bigint, to_seq bigint, word_score double precision,
    worth double precision, asked boolean, timely boolean, vector_score double precision, nearby_score double precision,
    retention double precision, strength double precision, recency double precision)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 100
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $fn$
DECLARE
    v_query public.halfvec := hippocampus._unit_vector('p_query_embedding', p_query_embedding, p_serving.dimension);
    v_length double precision := coalesce(p_evidence -> 'length', '0');
    v_question double precision := coalesce(p_evidence -> 'question', '0');
    v_terms text[] := hippocampus._query_terms(p_app_name, p_query);
    v_filtered boolean := hippocampus._leaves_out(p_app_name, p_memory_types, p_categories, p_tags, p_thread_id, p_since, p_until, p_min_importance);
BEGIN
    RETURN QUERY
    WITH kept AS MATERIALIZED ( -- narrow: a long text is read for what is returned
        SELECT c.*, CASE WHEN c.words > 0 AND m.memory_type = 'episodic' AND m.thread_id IS NOT NULL
                THEN hippocampus._turn_worth(m.content, v_length, v_question) ELSE 1 END AS worth, m.thread_id, m.from_seq, m.to_seq, m.memory_type, m.category, m.author, m.initial_score, m.running_intensity, m.access_count, m.last_accessed_at,
            m.created_at, m.occurred_from, m.occurred_until, least(1, greatest(0, coalesce(c.similarity, (
                SELECT -(e.embedding OPERATOR(public.<#>) v_query) FROM hippocampus.embeddings e
                WHERE v_query IS NOT NULL AND e.user_id = p_user_id AND e.app_name = p_app_name
                  AND e.generation = p_serving.generation AND e.source = 'memory' AND e.row_id = c.row_id), c.words, 0), c.anchored)) AS vector_score
        FROM hippocampus._search_candidates(p_user_id, p_app_name, p_query, p_query_embedding, v_terms, p_evidence,
            CASE WHEN NOT v_filtered THEN greatest(50, least(4 * p_limit, p_limit + 100)) END, p_project_anchors) c
        CROSS JOIN LATERAL hippocampus._memory_row(p_user_id, p_app_name, c.row_id) m
        WHERE m.superseded_by IS NULL
          AND (p_memory_types IS NULL OR m.memory_type = ANY (p_memory_types))
          AND (p_categories IS NULL OR m.category = ANY (p_categories))
          AND (p_tags IS NULL OR m.tags @> p_tags)
          AND (p_thread_id IS NULL OR m.thread_id = p_thread_id OR EXISTS (
              SELECT FROM hippocampus.memory_sources s
              WHERE s.memory_id = m.id AND s.thread_id = p_thread_id AND s.user_id = p_user_id AND s.app_name = p_app_name))
          AND (p_since IS NULL OR m.occurred_until >= p_since)
          AND (p_until IS NULL OR m.occurred_from <= p_until)
          AND (p_min_importance = 0 OR hippocampus._effective_importance(m.importance, m.access_count) >= p_min_importance)
    ), kinds AS MATERIALIZED ( -- what is the same for many rows is found out once
        SELECT k.memory_type, k.category, p FROM (SELECT DISTINCT r.memory_type, r.category FROM kept r) k
        CROSS JOIN LATERAL hippocampus._retention_policy(p_app_name, k.memory_type, k.category) p
    ), authors AS MATERIALIZED (
        SELECT a.author, hippocampus._is_asked(a.author, p_query) AS asked FROM (SELECT DISTINCT r.author FROM kept r) a
    ), near AS (
        SELECT n.*, -- nothing is before the first turn: the next one tells
            CASE WHEN lag(n.to_seq) OVER w = n.from_seq - 1 THEN lag(n.vector_score) OVER w - min(n.vector_score) OVER () WHEN n.from_seq > 1 THEN 0 END AS before,
            CASE WHEN lead(n.from_seq) OVER w = n.to_seq + 1 THEN lead(n.vector_score) OVER w - min(n.vector_score) OVER () ELSE 0 END AS after
        FROM kept n
        WINDOW w AS (PARTITION BY n.thread_id, n.memory_type ORDER BY n.from_seq, n.row_id)
    )
    SELECT m.row_id, m.occurred_until, m.thread_id, m.from_seq, m.to_seq, coalesce(m.words, 0) AS word_score, m.worth, coalesce(m.words > 0 AND a.asked, false) AS asked,
        coalesce(m.words > 0 AND tstzrange(m.occurred_from, m.occurred_until, '[]') && p_when, false) AS timely,
        m.vector_score, CASE WHEN v_query IS NOT NULL AND m.memory_type = 'episodic' AND m.thread_id IS NOT NULL AND m.from_seq IS NOT NULL
            THEN (coalesce(m.before, m.after) + m.after) / 2 ELSE 0 END AS nearby_score,
        hippocampus._retention(k.p, m.initial_score, m.running_intensity, m.access_count, m.last_accessed_at,
            m.created_at, p_now) AS retention,
        CASE WHEN p_profile = 'strength' THEN hippocampus.effective_strength(
            m.running_intensity, m.access_count, m.last_accessed_at, p_now) END AS strength,
        exp(-least(700, 0.01 * greatest(0, extract(epoch FROM p_now - m.occurred_until)::double precision) / 86400)) AS recency
    FROM near m
    JOIN kinds k ON k.memory_type = m.memory_type AND k.category = m.category
        AND ((k.p).model <> 'strength' OR 0.05 <= hippocampus.effective_strength(
            m.running_intensity, m.access_count, m.last_accessed_at, p_now))
    LEFT JOIN authors a ON a.author = m.author;
END
$fn$;
COMMENT ON FUNCTION hippocampus._search_parts IS
    'The candidates of a search that its filters let through, with every part that a score is made of.';
REVOKE ALL ON FUNCTION hippocampus._search_parts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._search_parts
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
