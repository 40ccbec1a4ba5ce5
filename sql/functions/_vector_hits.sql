-- The nearest rows of a tenant by cosine similarity. Exact for a tenant without an index of its own, which
-- is faster than a shared index for all but large tenants, and misses nothing. A large tenant has a partial
-- HNSW index whose predicate names it: the statement repeats the predicate as literals, or the planner
-- could not prove it. What it sets for pgvector it sets back, and no parallel query may set anything.
CREATE OR REPLACE FUNCTION hippocampus._vector_hits(
    p_user_id text,
    p_app_name text,
    p_source text,
    p_query_embedding public.vector,
    p_limit integer,
    p_exact boolean DEFAULT false
) RETURNS TABLE (row_id uuid, similarity double precision)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 50
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_serving hippocampus.embedding_models;
    v_query public.halfvec;
    v_scan text := current_setting('hnsw.iterative_scan', true);
    v_search text := current_setting('hnsw.ef_search', true);
BEGIN
    IF p_query_embedding IS NULL THEN
        RETURN;
    END IF;
    v_serving := hippocampus._query_generation(public.vector_dims(p_query_embedding));
    v_query := hippocampus._unit_vector('p_query_embedding', p_query_embedding, v_serving.dimension);
    IF NOT p_exact AND EXISTS (SELECT FROM hippocampus.vector_indexes i
               WHERE i.user_id = p_user_id AND i.app_name = p_app_name AND i.source = p_source
                 AND i.generation = v_serving.generation AND i.status = 'ready') THEN
        PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true),
            set_config('hnsw.ef_search', least(1000, greatest(100, 2 * p_limit))::text, true);
        RETURN QUERY EXECUTE format(
            'SELECT e.row_id, -(e.embedding::public.halfvec(%1$s) OPERATOR(public.<#>) $1)
             FROM hippocampus.embeddings e
             WHERE e.user_id = %2$L AND e.app_name = %3$L AND e.source = %4$L AND e.generation = %5$s
             ORDER BY e.embedding::public.halfvec(%1$s) OPERATOR(public.<#>) $1 LIMIT $2',
            v_serving.dimension, p_user_id, p_app_name, p_source, v_serving.generation)
        USING v_query, p_limit;
        PERFORM set_config('hnsw.iterative_scan', v_scan, true), set_config('hnsw.ef_search', v_search, true);
    ELSE
        RETURN QUERY
        SELECT e.row_id, -(e.embedding OPERATOR(public.<#>) v_query)
        FROM hippocampus.embeddings e
        WHERE e.user_id = p_user_id AND e.app_name = p_app_name
          AND e.generation = v_serving.generation AND e.source = p_source
        ORDER BY e.embedding OPERATOR(public.<#>) v_query, e.row_id
        LIMIT p_limit;
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._vector_hits IS 'The rows of a source nearest to a vector, by cosine similarity.';
REVOKE ALL ON FUNCTION hippocampus._vector_hits FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._vector_hits
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
