-- The nearest rows of a tenant by cosine similarity, in one of three ways:
--
--   index  A large tenant has a partial HNSW index whose predicate names it: the statement repeats the
--          predicate as literals, or the planner could not prove it.
--   signs  The others look at the signs of all of their vectors, and read those that have most in common with
--          the question's: 50 more than are wanted, 100 at least. For a model whose signs tell enough (see _measure_signs).
--   exact  All vectors are read: of a tenant that has no more than that, for any other model, and where p_exact
--          asks for it.
--
-- A shared index would be slower than any of these for all but large tenants, and miss more. What it sets for
-- pgvector it sets back, and no parallel query may set anything.
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
SET plan_cache_mode = force_generic_plan
AS $fn$
DECLARE
    v_serving hippocampus.embedding_models;
    v_query public.halfvec;
    v_signs bit varying;
    v_alike integer := greatest(100, least(p_limit, 1000000) + 50);
    v_scan text;
    v_search text;
BEGIN
    IF p_query_embedding IS NULL THEN
        RETURN;
    END IF;
    v_serving := hippocampus._query_generation(public.vector_dims(p_query_embedding));
    v_query := hippocampus._unit_vector('p_query_embedding', p_query_embedding, v_serving.dimension);
    IF NOT p_exact AND EXISTS (SELECT FROM hippocampus.vector_indexes i
               WHERE i.user_id = p_user_id AND i.app_name = p_app_name AND i.source = p_source
                 AND i.generation = v_serving.generation AND i.status = 'ready') THEN
        v_scan := current_setting('hnsw.iterative_scan', true);
        v_search := current_setting('hnsw.ef_search', true);
        PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true),
            set_config('hnsw.ef_search', least(1000, greatest(100, p_limit + 50))::text, true);
        RETURN QUERY EXECUTE format(
            'SELECT e.row_id, -(e.embedding::public.halfvec(%1$s) OPERATOR(public.<#>) $1)
             FROM hippocampus.embeddings e
             WHERE e.user_id = %2$L AND e.app_name = %3$L AND e.source = %4$L AND e.generation = %5$s
             ORDER BY e.embedding::public.halfvec(%1$s) OPERATOR(public.<#>) $1 LIMIT $2',
            v_serving.dimension, p_user_id, p_app_name, p_source, v_serving.generation)
        USING v_query, p_limit;
        PERFORM set_config('hnsw.iterative_scan', v_scan, true), set_config('hnsw.ef_search', v_search, true);
    ELSIF NOT EXISTS (
            SELECT FROM hippocampus.embeddings e
            WHERE e.user_id = p_user_id AND e.app_name = p_app_name
              AND e.generation = v_serving.generation AND e.source = p_source OFFSET v_alike) THEN
        -- in the order of the index, or a plan for any tenant would read the whole table
        RETURN QUERY
        SELECT e.row_id, -(e.embedding OPERATOR(public.<#>) v_query) AS near
        FROM (SELECT f.row_id, f.embedding FROM hippocampus.embeddings f
              WHERE f.user_id = p_user_id AND f.app_name = p_app_name
                AND f.generation = v_serving.generation AND f.source = p_source
              ORDER BY f.row_id LIMIT v_alike) e
        ORDER BY near DESC, e.row_id LIMIT p_limit;
    ELSIF NOT p_exact AND v_serving.signs_recall >= 0.99 THEN
        v_signs := public.binary_quantize(v_query);
        RETURN QUERY
        SELECT n.row_id, -(n.embedding OPERATOR(public.<#>) v_query) AS near
        FROM (SELECT s.row_id FROM hippocampus.embeddings s
              WHERE s.user_id = p_user_id AND s.app_name = p_app_name
                AND s.generation = v_serving.generation AND s.source = p_source
              ORDER BY s.signs OPERATOR(public.<~>) v_signs LIMIT v_alike) c
        CROSS JOIN LATERAL (
            SELECT e.row_id, e.embedding FROM hippocampus.embeddings e
            WHERE e.user_id = p_user_id AND e.app_name = p_app_name
              AND e.generation = v_serving.generation AND e.source = p_source AND e.row_id = c.row_id LIMIT 1) n
        ORDER BY near DESC, n.row_id LIMIT p_limit;
    ELSE
        -- Planned for this tenant and source: a plan for any of them would read the whole table for a few rows where
        -- one tenant has most of it.
        RETURN QUERY EXECUTE
            'SELECT n.row_id, -n.distance
             FROM (SELECT e.row_id, e.embedding OPERATOR(public.<#>) $1 AS distance -- once a row
                   FROM hippocampus.embeddings e
                   WHERE e.user_id = $2 AND e.app_name = $3 AND e.generation = $4 AND e.source = $5
                   ORDER BY 2, 1 LIMIT $6) n
             ORDER BY n.distance, n.row_id'
        USING v_query, p_user_id, p_app_name, v_serving.generation, p_source, p_limit;
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._vector_hits IS
    'The rows of a source nearest to a vector, by cosine similarity. p_exact takes no short cut.';
REVOKE ALL ON FUNCTION hippocampus._vector_hits FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._vector_hits
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
