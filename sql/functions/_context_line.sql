-- One entry of a window as text. What was recalled is data: it cannot close its fence, nor begin a line that
-- looks like a heading or another speaker, since its further lines are set in. Most texts need neither.
CREATE OR REPLACE FUNCTION hippocampus._context_line(
    p_prefix text,
    p_text text
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT p_prefix || CASE
        WHEN p_text !~ ('[\n\r\u000b\u000c\u0085\u2028\u2029]|' || hippocampus._fence_signs())
            THEN p_text
        ELSE regexp_replace(hippocampus._fence_text(p_text),
            '\r\n|[\n\r\u000b\u000c\u0085\u2028\u2029]', E'\n  ', 'g') END;
END;
COMMENT ON FUNCTION hippocampus._context_line IS
    'A prefix and a text as one entry of a window: further lines are set in, and the fence of recalled memories cannot be closed.';
REVOKE ALL ON FUNCTION hippocampus._context_line FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._context_line
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
