-- Writes vectors into each generation of their model, replacing those that are there, and takes the rows off their
-- queues. The rows themselves may still be to come: remember and upsert_fact write the vector first, so that the row
-- is not queued for one.
CREATE OR REPLACE FUNCTION hippocampus._store_embeddings(
    p_user_id text,
    p_app_name text,
    p_source text,
    p_row_ids uuid[],
    p_embeddings public.vector[],
    p_model text
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_model text := p_model;
    v_serving hippocampus.embedding_models;
    v_generations integer[];
BEGIN
    IF cardinality(p_row_ids) IS DISTINCT FROM cardinality(p_embeddings) OR array_position(p_embeddings, NULL) IS NOT NULL THEN
        RAISE EXCEPTION '% rows come with % embeddings', coalesce(cardinality(p_row_ids), 0), coalesce(cardinality(array_remove(p_embeddings, NULL)), 0)
            USING ERRCODE = 'HC009', HINT = 'Give one vector for each row, none of them null.';
    END IF;
    SELECT g.* INTO v_serving FROM hippocampus.embedding_models g WHERE g.status = 'serving';
    IF v_serving.model IS NULL AND p_model IS NOT NULL THEN
        PERFORM hippocampus._name_embedding_model(p_model);
        SELECT g.* INTO v_serving FROM hippocampus.embedding_models g WHERE g.status = 'serving'; -- maybe another's
        IF v_serving.model IS NULL THEN -- a bound login names none: its vector is one of the model that serves
            v_model := NULL;
        END IF;
    END IF;
    SELECT array_agg(g.generation) INTO v_generations FROM hippocampus.embedding_models g
    WHERE g.status <> 'retired' AND g.dimension = public.vector_dims(p_embeddings[1])
      AND (g.model = v_model OR v_model IS NULL AND g.status = 'serving');
    IF v_generations IS NULL THEN
        IF v_model IS NOT NULL AND NOT EXISTS (
                SELECT FROM hippocampus.embedding_models g WHERE g.status <> 'retired' AND g.model = v_model) THEN
            RAISE EXCEPTION 'the embedding is of model %, this deployment serves %', quote_literal(v_model), quote_literal(v_serving.model)
                USING ERRCODE = 'HC014', HINT = 'Vectors of two models cannot be compared; embed with the model that serves.';
        END IF;
        v_generations := ARRAY[v_serving.generation]; -- whose dimension it has not, as _unit_vector says
    END IF;
    INSERT INTO hippocampus.embeddings AS e (generation, dimension, row_id, user_id, app_name, source, embedding)
    SELECT g.generation, g.dimension, r.id, p_user_id, p_app_name, p_source,
        hippocampus._unit_vector('p_embedding', r.embedding, g.dimension)
    FROM hippocampus.embedding_models g CROSS JOIN unnest(p_row_ids, p_embeddings) AS r (id, embedding)
    WHERE g.generation = ANY (v_generations)
    ORDER BY g.generation, r.id
    ON CONFLICT (user_id, app_name, generation, source, row_id) DO UPDATE SET embedding = excluded.embedding;
    DELETE FROM hippocampus.embedding_queue q
    WHERE q.row_id = ANY (p_row_ids) AND q.user_id = p_user_id AND q.app_name = p_app_name AND q.generation = ANY (v_generations);
END
$fn$;
COMMENT ON FUNCTION hippocampus._store_embeddings IS 'Writes the vectors of rows, of one model, whether or not the rows are there yet.';
REVOKE ALL ON FUNCTION hippocampus._store_embeddings FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._store_embeddings TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
