-- What an agent knows about a query: its facts that hold and its memories in one list, ranked by
-- 0.6·similarity + 0.3·strength + 0.1·recency. Similarity is of words and meaning, as the app's ranking weighs them
-- (search_memory's relevance): by a vector alone, a model that sees little would find little. A fact's words are few,
-- and a question has others («where do I live?», location: Lisbon), so it is as near as the memory of what told it, or
-- told what held before. A fact held more weakly than 0.05 is not returned, nor a memory whose policy is of the model
-- strength, nor what was superseded. Reads only; count a use with record_access. Not for parallel queries, see
-- _vector_hits.
CREATE OR REPLACE FUNCTION hippocampus.recall_memories(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_query_embedding public.vector DEFAULT NULL,
    p_limit integer DEFAULT 10,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.recall_hits
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_terms text[] := hippocampus._query_terms(p_app_name, p_query);
    v_weights jsonb := hippocampus._ranking(p_app_name, 'strength', NULL);
    v_mix jsonb := hippocampus._ranking(p_app_name, 'default', (hippocampus._query_generation(public.vector_dims(p_query_embedding))).model);
    v_text double precision := coalesce(v_mix -> 'text', '0');
    -- a memory's words are told by somebody, who may be whom the question names; a fact has none of that weight
    v_words double precision := v_text * (1 - coalesce((hippocampus._setting(p_app_name, 'evidence') -> 'author')::double precision, 0));
    v_vector double precision := coalesce(v_mix -> 'vector', '0');
    v_browse boolean := p_query_embedding IS NULL AND cardinality(v_terms) = 0;
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_limit', p_limit, 0, 10000);
    RETURN QUERY
    WITH told AS MATERIALIZED (
        SELECT e.row_id, e.own / max(e.own) OVER () AS words
        FROM hippocampus._evidence(p_user_id, p_app_name, 'fact', v_terms, NULL) e
    ), meant AS MATERIALIZED (
        SELECT v.row_id, v.similarity FROM hippocampus._vector_hits(p_user_id, p_app_name, 'fact', p_query_embedding, 1000000, true) v
    ), hits AS MATERIALIZED (
        SELECT h.* FROM hippocampus.search_memory(p_user_id, p_app_name, p_query, p_query_embedding, p_limit, p_now => p_now) h
    ), lent AS MATERIALIZED (
        SELECT t.id, max(h.relevance) AS relevance FROM hits h
        CROSS JOIN LATERAL hippocampus._told_facts(p_user_id, p_app_name, h.thread_id, h.from_seq, h.to_seq) t
        WHERE h.memory_type = 'episodic' AND h.relevance > 0
        GROUP BY t.id
    ), facts AS (
        SELECT 'fact'::text AS source, f.id, hippocampus._fact_text(f.key, f.value) AS content, f.fact_type AS kind,
            greatest(l.relevance, (v_words * coalesce(t.words, 0) + v_vector * greatest(0, least(1, coalesce(m.similarity, t.words, 0))))
                / nullif(v_text + v_vector, 0), 0) AS similarity,
            hippocampus.effective_strength(f.running_intensity, f.access_count, f.last_accessed_at, p_now) AS strength,
            f.recorded_at AS created_at, f.valid_from AS occurred_at, f.thread_id, f.trust
        FROM hippocampus.facts f
        LEFT JOIN told t ON t.row_id = f.id
        LEFT JOIN meant m ON m.row_id = f.id
        LEFT JOIN lent l ON l.id = f.id
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.valid_until IS NULL AND f.valid_from <= p_now
          AND (v_browse OR t.words > 0 OR m.similarity > 0 OR l.relevance > 0)
    ), memories AS (
        SELECT 'memory'::text, h.memory_id, h.content, h.memory_type, h.relevance,
            hippocampus.effective_strength(m.running_intensity, m.access_count, m.last_accessed_at, p_now),
            h.created_at, h.occurred_from, h.thread_id, h.trust
        FROM hits h
        CROSS JOIN LATERAL hippocampus._memory_row(p_user_id, p_app_name, h.memory_id) m
    ), parts AS (
        SELECT a.*, exp(-least(700, 0.01 * greatest(0, extract(epoch FROM p_now - a.created_at)::double precision) / 86400)) AS recency
        FROM (SELECT * FROM facts UNION ALL SELECT * FROM memories) a
        WHERE a.strength >= 0.05 OR a.source = 'memory' -- of which search_memory leaves out what its policy says
    )
    SELECT p.source, p.id, p.content, p.kind,
        (v_weights -> 'vector')::double precision * p.similarity + (v_weights -> 'strength')::double precision * p.strength
            + (v_weights -> 'recency')::double precision * p.recency AS score,
        p.similarity, p.strength, p.recency, p.created_at, p.occurred_at, p.thread_id, p.trust
    FROM parts p
    ORDER BY score DESC, p.source, p.created_at DESC, p.id -- what holds before what was said
    LIMIT p_limit;
END
$fn$;
COMMENT ON FUNCTION hippocampus.recall_memories IS
    'The facts that hold and the memories that answer a query, in one list: 0.6·similarity (of words and meaning, by the app''s ranking; of a fact at least that of a memory that tells its key) + 0.3·strength + 0.1·recency, each part beside it, and whose words it holds (trust); without facts, and memories whose policy is of the model strength, that are weaker than 0.05. An empty query without a vector lists the strongest and newest.';
REVOKE ALL ON FUNCTION hippocampus.recall_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.recall_memories
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
