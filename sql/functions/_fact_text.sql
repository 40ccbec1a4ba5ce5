-- How a fact reads, to a search and in a prompt: its key in words, and its value.
CREATE OR REPLACE FUNCTION hippocampus._fact_text(
    p_key text,
    p_value jsonb
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT SECURITY INVOKER
BEGIN ATOMIC
    SELECT replace(p_key, '_', ' ') || ': '
        || CASE WHEN jsonb_typeof(p_value) = 'string' THEN p_value #>> '{}' ELSE p_value::text END;
END;
COMMENT ON FUNCTION hippocampus._fact_text IS 'How a fact reads: its key in words, a colon, its value.';
REVOKE ALL ON FUNCTION hippocampus._fact_text FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._fact_text
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
