-- The lessons that fit a task or a message, best first: by words and by meaning, weighed as search_chunks weighs them, and
-- those of a field that is named, half as well as by their words. How sure a lesson is counts as much as how well it
-- fits; one that fits less than half as well as the best is left out.
CREATE OR REPLACE FUNCTION hippocampus._recall_lessons(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_query_embedding public.vector,
    p_limit integer,
    p_min_relevance double precision,
    p_now timestamptz
) RETURNS TABLE (rank bigint, id uuid, line text, cost integer)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 3
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_terms text[] := hippocampus._query_terms(p_app_name, p_query);
    v_serving hippocampus.embedding_models := hippocampus._query_generation(public.vector_dims(p_query_embedding));
    v_query public.halfvec := hippocampus._unit_vector('p_query_embedding', p_query_embedding, v_serving.dimension);
    v_weights jsonb := hippocampus._ranking(p_app_name, 'default', v_serving.model);
    v_text double precision := coalesce(v_weights -> 'text', '0');
    v_vector double precision := coalesce(v_weights -> 'vector', '0');
BEGIN
    RETURN QUERY
    WITH held AS MATERIALIZED (
        SELECT f.id, f.token_count, f.confidence, f.trust, f.value #>> '{}' AS rule, f.metadata ->> 'domain' AS domain
        FROM hippocampus.facts_as_of(p_user_id, p_app_name, p_now, NULL, 'rule') f WHERE f.metadata ? 'domain'
    ), named AS (
        SELECT d.domain FROM (SELECT DISTINCT h.domain FROM held h) d
        WHERE hippocampus._query_terms(p_app_name, replace(d.domain, '_', ' ')) && v_terms
    ), fitting AS (
        SELECT h.*, greatest(coalesce(w.own / max(w.own) OVER (), 0), CASE WHEN n.domain IS NOT NULL THEN 0.5 ELSE 0 END) AS words,
            -(e.embedding OPERATOR(public.<#>) v_query) AS near
        FROM held h
        LEFT JOIN hippocampus._evidence(p_user_id, p_app_name, 'fact', v_terms, NULL) w ON w.row_id = h.id
        LEFT JOIN named n ON n.domain = h.domain
        LEFT JOIN hippocampus.embeddings e ON v_query IS NOT NULL AND e.user_id = p_user_id AND e.app_name = p_app_name
            AND e.generation = v_serving.generation AND e.source = 'fact' AND e.row_id = h.id
    ), scored AS (
        SELECT f.*, coalesce((v_text * f.words + v_vector * greatest(0, coalesce(f.near, f.words))) / nullif(v_text + v_vector, 0), 0) AS fit
        FROM fitting f
    ), best AS (
        SELECT s.*, row_number() OVER (ORDER BY s.fit * s.confidence DESC, s.confidence DESC, s.id) AS place
        FROM (SELECT c.*, max(c.fit) OVER () AS most FROM scored c) s
        WHERE s.fit > 0 AND s.fit >= greatest(p_min_relevance, s.most / 2)
    )
    SELECT b.place, b.id, hippocampus._context_line('- [lesson ' || to_char(b.confidence, 'FM0.00')
            || CASE b.trust WHEN 'user' THEN '' ELSE ', ' || b.trust END || '] ', b.rule || d.source),
        hippocampus._context_price(b.token_count, 14 + octet_length(d.source), b.rule || d.source, true)
    FROM best b CROSS JOIN LATERAL (SELECT ' (Source: ' || b.domain || ')' AS source) d
    WHERE b.place <= p_limit;
END
$fn$;
COMMENT ON FUNCTION hippocampus._recall_lessons IS
    'The lessons that fit a task or a message, best first, each as a line (confidence, rule, domain) with the tokens that it costs at most.';
REVOKE ALL ON FUNCTION hippocampus._recall_lessons FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._recall_lessons
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
