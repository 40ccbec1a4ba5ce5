-- Stores the vector of a memory or fact in the serving generation, replacing one that is there, and takes
-- the row off the queue. The first model that is named for a generation becomes its model.
CREATE OR REPLACE FUNCTION hippocampus.put_embedding(
    p_user_id text,
    p_app_name text,
    p_source text,
    p_row_id uuid,
    p_embedding public.vector,
    p_model text DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_serving hippocampus.embedding_models;
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_one_of('p_source', p_source, ARRAY['memory', 'fact']);
    IF p_embedding IS NULL THEN
        RAISE EXCEPTION 'p_embedding is null' USING ERRCODE = 'HC005', HINT = 'Give the vector of the row.';
    END IF;
    SELECT g.* INTO v_serving FROM hippocampus.embedding_models g WHERE g.status = 'serving';
    IF v_serving.model <> p_model THEN
        RAISE EXCEPTION 'the embedding is of model %, this deployment serves %', quote_literal(p_model), quote_literal(v_serving.model)
            USING ERRCODE = 'HC014', HINT = 'Vectors of two models cannot be compared; embed with the model that serves.';
    END IF;
    INSERT INTO hippocampus.embeddings AS e (generation, dimension, row_id, user_id, app_name, source, embedding)
    VALUES (v_serving.generation, v_serving.dimension, p_row_id, p_user_id, p_app_name, p_source,
        hippocampus._unit_vector('p_embedding', p_embedding, v_serving.dimension))
    ON CONFLICT (user_id, app_name, generation, source, row_id) DO UPDATE SET embedding = excluded.embedding;
    DELETE FROM hippocampus.embedding_queue q
    WHERE q.row_id = p_row_id AND q.user_id = p_user_id AND q.app_name = p_app_name;
END
$fn$;
COMMENT ON FUNCTION hippocampus.put_embedding IS
    'Stores the vector of a memory or fact (p_source) and takes the row off embedding_queue. Any length is brought to 1. Raises HC004 (dimension), HC005 (no direction), HC014 (another model than the one that serves).';
REVOKE ALL ON FUNCTION hippocampus.put_embedding FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.put_embedding TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
