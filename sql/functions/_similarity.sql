-- How alike two stored vectors are, which have unit length. A function, since the queries of programs can't name
-- pgvector's operators: they are in whichever schema the extension is.
CREATE OR REPLACE FUNCTION hippocampus._similarity(
    p_left public.halfvec,
    p_right public.halfvec
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT -(p_left OPERATOR(public.<#>) p_right);
END;
COMMENT ON FUNCTION hippocampus._similarity IS
    'The cosine of two vectors of unit length: 1 for the same direction. Null where either is.';
REVOKE ALL ON FUNCTION hippocampus._similarity FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._similarity
    TO hippocampus_worker;
