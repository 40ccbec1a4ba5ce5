-- A vector of the serving generation's dimension and of unit length, in half precision. Refuses what can't
-- be one: wrong dimension, no direction, values that half precision does not hold.
CREATE OR REPLACE FUNCTION hippocampus._unit_vector(
    p_argument text,
    p_embedding public.vector,
    p_dimension integer
) RETURNS public.halfvec
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_norm double precision := public.vector_norm(p_embedding);
BEGIN
    IF public.vector_dims(p_embedding) <> p_dimension THEN
        RAISE EXCEPTION '% has % dimensions, this deployment %', p_argument, public.vector_dims(p_embedding), p_dimension
            USING ERRCODE = 'HC004', HINT = 'Use the embedding model of this deployment; see hippocampus.embedding_models.';
    END IF;
    IF v_norm = 0 OR v_norm = 'Infinity' OR v_norm = 'NaN' THEN
        RAISE EXCEPTION '% has length %', p_argument, v_norm
            USING ERRCODE = 'HC005', HINT = 'An embedding needs a direction: finite values, not all zero.';
    END IF;
    RETURN public.l2_normalize(p_embedding)::public.halfvec;
END
$fn$;
COMMENT ON FUNCTION hippocampus._unit_vector IS
    'A vector at unit length in half precision. Null stays null. Raises HC004 for a wrong dimension, HC005 for zero or infinite length.';
REVOKE ALL ON FUNCTION hippocampus._unit_vector FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._unit_vector
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
