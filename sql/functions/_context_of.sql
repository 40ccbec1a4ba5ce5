-- The part of metadata by which memories are recalled: the fields with a text, a number or a truth value, of at
-- most 255 bytes each, the first 64 by name. A number is written without the zeros at its end, since 7.0 is 7.
CREATE OR REPLACE FUNCTION hippocampus._context_of(
    p_metadata jsonb
) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT coalesce(jsonb_object_agg(f.key, f.value), '{}') FROM (
        SELECT e.key, e.value FROM (
            SELECT m.key, CASE jsonb_typeof(m.value) WHEN 'number' THEN to_jsonb(trim_scale(m.value::numeric)) ELSE m.value END AS value
            FROM jsonb_each(p_metadata) m) e
        WHERE jsonb_typeof(e.value) IN ('string', 'number', 'boolean')
          AND octet_length(e.key) <= 255 AND octet_length(e.value #>> '{}') <= 255
        ORDER BY e.key COLLATE "C" LIMIT 64) f;
END;
COMMENT ON FUNCTION hippocampus._context_of IS 'The fields of metadata that are indexed: short texts, numbers and truth values.';
REVOKE ALL ON FUNCTION hippocampus._context_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._context_of
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
