-- Hybrid search over a tenant's chunks: words (BM25 over the index of words) and meaning (vectors), weighed as the default
-- ranking weighs them for memories; chunks do not fade. One whose vector is still to come counts as near in meaning
-- as it is in words. Not for parallel queries, see _vector_hits.
CREATE OR REPLACE FUNCTION hippocampus.search_chunks(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_query_embedding public.vector DEFAULT NULL,
    p_limit integer DEFAULT 10,
    p_sources text[] DEFAULT NULL
) RETURNS SETOF hippocampus.chunk_hits
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_filtered boolean := p_sources IS NOT NULL OR EXISTS (
        SELECT FROM hippocampus.allowed_sources a WHERE a.user_id = p_user_id AND a.app_name = p_app_name);
    v_pool integer;
    v_weights jsonb;
    v_text double precision;
    v_vector double precision;
    v_serving hippocampus.embedding_models;
    v_query public.halfvec;
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_limit', p_limit, 0, 10000);
    v_pool := greatest(100, least(4 * p_limit, p_limit + 100));
    v_serving := hippocampus._query_generation(public.vector_dims(p_query_embedding));
    v_query := hippocampus._unit_vector('p_query_embedding', p_query_embedding, v_serving.dimension);
    v_weights := hippocampus._ranking(p_app_name, 'default', v_serving.model);
    v_text := coalesce(v_weights -> 'text', '0');
    v_vector := coalesce(v_weights -> 'vector', '0');
    RETURN QUERY
    WITH words AS MATERIALIZED (
        SELECT e.row_id, e.own / max(e.own) OVER () AS score
        FROM hippocampus._evidence(p_user_id, p_app_name, 'chunk', hippocampus._query_terms(p_app_name, p_query),
            CASE WHEN v_filtered THEN NULL ELSE v_pool END) e
    ), meaning AS MATERIALIZED (
        SELECT v.row_id, v.similarity FROM hippocampus._vector_hits(p_user_id, p_app_name, 'chunk', p_query_embedding,
            CASE WHEN v_filtered THEN 1000000 ELSE v_pool END, v_filtered) v
    ), parts AS (
        SELECT c.id, c.document_id, d.path, d.source, d.title, c.heading, c.start_line, c.content, c.token_count,
            coalesce(w.score, 0) AS words,
            least(1, greatest(0, coalesce(n.similarity, -(e.embedding OPERATOR(public.<#>) v_query), w.score, 0))) AS meaning
        FROM (SELECT w.row_id FROM words w UNION SELECT n.row_id FROM meaning n) k
        JOIN hippocampus.chunks c ON c.id = k.row_id AND c.user_id = p_user_id AND c.app_name = p_app_name
        JOIN hippocampus.documents d ON d.id = c.document_id AND d.user_id = p_user_id AND d.app_name = p_app_name
        LEFT JOIN words w ON w.row_id = k.row_id
        LEFT JOIN meaning n ON n.row_id = k.row_id
        LEFT JOIN hippocampus.embeddings e ON n.row_id IS NULL AND v_query IS NOT NULL AND e.user_id = p_user_id
            AND e.app_name = p_app_name AND e.generation = v_serving.generation AND e.source = 'chunk' AND e.row_id = k.row_id
        WHERE NOT v_filtered OR (p_sources IS NULL OR d.source = ANY (p_sources))
            AND hippocampus._source_allowed(p_user_id, p_app_name, d.source)
    )
    SELECT p.id, p.document_id, p.path, p.source, p.title, p.heading, p.start_line, p.content,
        coalesce((v_text * p.words + v_vector * p.meaning) / nullif(v_text + v_vector, 0), 0) AS score, p.words, p.meaning, p.token_count
    FROM parts p ORDER BY score DESC, p.path, p.start_line, p.id LIMIT p_limit;
END
$fn$;
COMMENT ON FUNCTION hippocampus.search_chunks IS
    'Searches a user''s documents by words and, where p_query_embedding is given, by meaning; returns the best chunks with every part of their score (weights: the setting ranking). Sources that are not allowed are left out; p_sources names those wanted.';
REVOKE ALL ON FUNCTION hippocampus.search_chunks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.search_chunks
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
