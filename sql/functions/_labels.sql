-- The labels of a memory: a tag as #tag, a field of its context as key=value.
CREATE OR REPLACE FUNCTION hippocampus._labels(
    p_tags text[],
    p_metadata jsonb
) RETURNS SETOF text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER ROWS 5
BEGIN ATOMIC
    SELECT '#' || t.tag FROM unnest(p_tags) AS t (tag)
    UNION SELECT f.key || '=' || f.value FROM jsonb_each_text(hippocampus._context_of(p_metadata)) f;
END;
COMMENT ON FUNCTION hippocampus._labels IS 'The labels by which a memory with such tags and metadata is found.';
REVOKE ALL ON FUNCTION hippocampus._labels FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._labels
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
