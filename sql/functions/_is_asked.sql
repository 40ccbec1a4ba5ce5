-- Whether a question is about what this author said: it names them, or it is in the first person and they are
-- the user.
CREATE OR REPLACE FUNCTION hippocampus._is_asked(
    p_author text,
    p_query text
) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT CASE
        WHEN p_author = 'user' THEN p_query ~* '\m(i|my|me|mine|we|our|us)\M' OR p_query ~ '我|咱|私|僕|나|내'
        WHEN p_author IN ('agent', 'assistant') THEN p_query ~* '\m(you|your)\M' OR p_query ~ '你|您'
        ELSE position(lower(p_author COLLATE "default") IN lower(p_query COLLATE "default")) > 0
    END;
END;
COMMENT ON FUNCTION hippocampus._is_asked IS 'Whether a question names an author, or is in the first person and the author is the user.';
REVOKE ALL ON FUNCTION hippocampus._is_asked FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._is_asked
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
