-- How much of a word a term is: all of it, but in scripts without spaces, where a word is some characters and a term
-- one or two: of Han and Hangul each character stands for half a word, of others each pair for a quarter.
CREATE OR REPLACE FUNCTION hippocampus._term_breadth(
    p_term text
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT SECURITY INVOKER
BEGIN ATOMIC
    SELECT CASE WHEN char_length(p_term) > 2 OR p_term !~ '^[\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u2300-\U0003ffff]' THEN 1.0
        WHEN char_length(p_term) = 1 THEN 0.5
        WHEN p_term ~ '^[\u2300-\u2bff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U0001f000-\U0003ffff]' THEN 0.0
        ELSE 0.25 END;
END;
COMMENT ON FUNCTION hippocampus._term_breadth IS 'How much of a word a term of the index is: 1, and less in scripts without spaces.';
REVOKE ALL ON FUNCTION hippocampus._term_breadth FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._term_breadth
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
