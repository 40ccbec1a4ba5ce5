-- The generation whose vectors a query is compared with: the one of the model that the transaction names in the
-- setting hippocampus.embedding_model, or the one that serves. So a client whose model no longer serves, or
-- will soon, searches its own generation until it is dropped, and is right at every moment of a change.
CREATE OR REPLACE FUNCTION hippocampus._query_generation(
    p_dimension integer
) RETURNS hippocampus.embedding_models
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_model text := nullif(current_setting('hippocampus.embedding_model', true), '');
    v_found hippocampus.embedding_models;
BEGIN
    IF v_model IS NOT NULL THEN
        SELECT g.* INTO v_found FROM hippocampus.embedding_models g
        WHERE g.model = v_model AND (p_dimension IS NULL OR g.dimension = p_dimension)
          AND hippocampus._generation_is_whole(g.generation)
        ORDER BY g.status = 'serving' DESC, g.generation DESC LIMIT 1;
    END IF;
    IF v_found.generation IS NULL THEN
        SELECT g.* INTO v_found FROM hippocampus.embedding_models g WHERE g.status = 'serving';
        IF p_dimension IS NOT NULL AND v_model <> v_found.model THEN
            RAISE EXCEPTION 'the embedding is of model %, this deployment serves %', quote_literal(v_model), quote_literal(v_found.model)
                USING ERRCODE = 'HC014', HINT = 'Vectors of two models cannot be compared; embed with the model that serves.';
        END IF;
    END IF;
    RETURN v_found;
END
$fn$;
COMMENT ON FUNCTION hippocampus._query_generation IS
    'The generation that a query of this transaction is compared with, by the setting hippocampus.embedding_model; the one that serves where that is empty. Raises HC014 for a model that has none.';
REVOKE ALL ON FUNCTION hippocampus._query_generation FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._query_generation
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
