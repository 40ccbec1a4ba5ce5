-- The paths of namespaces that begin with segments, as a range that an index can serve: up to the first * , from
-- where on _namespace_matches decides.
CREATE OR REPLACE FUNCTION hippocampus._namespace_range(
    p_prefix text[]
) RETURNS TABLE (from_path text, until_path text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
BEGIN ATOMIC
    -- the last segment's end, U+0001, is in the range's end the next character
    SELECT h.path, CASE WHEN h.path = '' THEN U&'\+10FFFF' ELSE left(h.path, -1) || U&'\0002' END
    FROM (SELECT hippocampus._namespace_path(CASE WHEN array_position(p_prefix, '*') IS NULL THEN p_prefix
        ELSE p_prefix[:array_position(p_prefix, '*') - 1] END) AS path) h;
END;
COMMENT ON FUNCTION hippocampus._namespace_range IS 'The range of paths, its end left out, of namespaces that begin with segments.';
REVOKE ALL ON FUNCTION hippocampus._namespace_range FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._namespace_range TO hippocampus_reader, hippocampus_tenant, hippocampus_service;
