-- Whether a namespace begins (or, p_at_end, ends) with segments of which * stands for any one.
CREATE OR REPLACE FUNCTION hippocampus._namespace_matches(
    p_namespace text[],
    p_pattern text[],
    p_at_end boolean DEFAULT false
) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT cardinality(p_namespace) >= coalesce(cardinality(p_pattern), 0) AND NOT EXISTS (
        SELECT FROM unnest(p_pattern) WITH ORDINALITY AS p (segment, n)
        WHERE p.segment <> '*' AND p.segment <> p_namespace[
            p.n + CASE WHEN p_at_end THEN cardinality(p_namespace) - cardinality(p_pattern) ELSE 0 END]);
END;
COMMENT ON FUNCTION hippocampus._namespace_matches IS
    'Whether a namespace begins or ends with segments, of which * stands for any one; no segments match any namespace.';
REVOKE ALL ON FUNCTION hippocampus._namespace_matches FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._namespace_matches TO hippocampus_reader, hippocampus_tenant, hippocampus_service;
