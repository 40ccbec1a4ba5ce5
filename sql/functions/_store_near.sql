-- How near the items of a user's store are to a question in meaning, all of them, best or not: a search ranks every item
-- that has a vector, and filters by value. Below a namespace only its own are read, item by item; of a whole store, in
-- one go.
CREATE OR REPLACE FUNCTION hippocampus._store_near(
    p_user_id text,
    p_app_name text,
    p_query_embedding public.vector,
    p_from_path text,
    p_until_path text
) RETURNS TABLE (row_id uuid, similarity double precision)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 1000
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $fn$
DECLARE
    v_generation hippocampus.embedding_models;
    v_query public.halfvec;
BEGIN
    IF p_query_embedding IS NULL THEN
        RETURN;
    ELSIF p_from_path = '' THEN
        RETURN QUERY SELECT v.row_id, v.similarity
        FROM hippocampus._vector_hits(p_user_id, p_app_name, 'store', p_query_embedding, 1000000, true) v;
        RETURN;
    END IF;
    v_generation := hippocampus._query_generation(public.vector_dims(p_query_embedding));
    v_query := hippocampus._unit_vector('p_query_embedding', p_query_embedding, v_generation.dimension);
    RETURN QUERY
    SELECT s.id, -(n.embedding OPERATOR(public.<#>) v_query)
    FROM hippocampus.store_items s
    CROSS JOIN LATERAL ( -- with its limit, or a plan for any namespace would read all vectors
        SELECT e.embedding FROM hippocampus.embeddings e
        WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND e.generation = v_generation.generation
          AND e.source = 'store' AND e.row_id = s.id LIMIT 1) n
    WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.path >= p_from_path AND s.path < p_until_path;
END
$fn$;
COMMENT ON FUNCTION hippocampus._store_near IS 'The cosine of each item of the store in a range of paths and a vector.';
REVOKE ALL ON FUNCTION hippocampus._store_near FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._store_near TO hippocampus_reader, hippocampus_tenant, hippocampus_service;
