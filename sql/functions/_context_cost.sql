-- The tokens that an entry costs at most: its text's count, what surrounds it (p_extra), and, where it was
-- altered to be harmless, the alteration: a line break set in is at most one token more, an escaped fence
-- three.
CREATE OR REPLACE FUNCTION hippocampus._context_cost(
    p_token_count integer,
    p_extra integer,
    p_text text
) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT p_token_count + p_extra
        + CASE WHEN p_text ~ E'[\n\r\u000b\u000c\u0085\u2028\u2029]'
            THEN 2 * regexp_count(p_text, E'[\n\r\u000b\u000c\u0085\u2028\u2029]') ELSE 0 END
        + CASE WHEN p_text ~* 'recalled_memories' THEN 3 * regexp_count(p_text, 'recalled_memories', 1, 'i') ELSE 0 END;
END;
COMMENT ON FUNCTION hippocampus._context_cost IS 'The tokens that an entry of a window costs at most, altered as _context_line alters it.';
REVOKE ALL ON FUNCTION hippocampus._context_cost FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._context_cost
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
