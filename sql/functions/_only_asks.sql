-- Whether a turn is a question and little else: short, with a question mark at its end. What answers it stands
-- next in the conversation and need not repeat its words. A long turn that ends in a question tells something too.
CREATE OR REPLACE FUNCTION hippocampus._only_asks(
    p_text text
) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT CASE WHEN octet_length(p_text) <= 300 -- known without reading a long text
        THEN right(rtrim(right(p_text, 32), E' \t\n\r!！"\'”’」』)）…'), 1) IN ('?', '？', '؟', '⁇', '‽') ELSE false END;
END;
COMMENT ON FUNCTION hippocampus._only_asks IS 'Whether a turn is a question and little else: at most 300 bytes, with a question mark at the end.';
REVOKE ALL ON FUNCTION hippocampus._only_asks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._only_asks
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
