-- A namespace as a text. Each segment ends with U+0001, and what of a segment is U+0001 or U+0002 is written
-- otherwise: so two namespaces are never the same text, and one begins with the other's segments just where its
-- text begins with the other's.
CREATE OR REPLACE FUNCTION hippocampus._namespace_path(
    p_namespace text[]
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT coalesce(string_agg(
        replace(replace(s.segment, U&'\0002', U&'\0002\0003'), U&'\0001', U&'\0002\0002') || U&'\0001', '' ORDER BY s.n), '')
    FROM unnest(p_namespace) WITH ORDINALITY AS s (segment, n);
END;
COMMENT ON FUNCTION hippocampus._namespace_path IS 'A namespace of the store as a text; empty for no segments.';
REVOKE ALL ON FUNCTION hippocampus._namespace_path FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._namespace_path TO hippocampus_reader, hippocampus_tenant, hippocampus_service;
