-- Refuses a namespace that no item can have. A pattern may be empty and may have * for a segment; an item's
-- namespace may not, so that a pattern is never taken for a name. Gives the namespace counted from 1.
CREATE OR REPLACE FUNCTION hippocampus._check_namespace(
    p_argument text,
    p_namespace text[],
    p_pattern boolean DEFAULT false
) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_segments text[] := ARRAY(SELECT s.segment FROM unnest(p_namespace) WITH ORDINALITY AS s (segment, n) ORDER BY s.n);
    v_bad text;
BEGIN
    IF NOT p_pattern AND cardinality(v_segments) = 0 OR cardinality(v_segments) > 32 OR array_ndims(p_namespace) > 1 THEN
        RAISE EXCEPTION '% %', p_argument, CASE WHEN p_namespace IS NULL THEN 'is null' WHEN array_ndims(p_namespace) > 1
                THEN format('has %s dimensions', array_ndims(p_namespace)) ELSE format('has %s segments', cardinality(v_segments)) END
            USING ERRCODE = 'HC009', HINT = 'Give a list of 1 to 32 segments, for example ARRAY[''notes'', ''travel''].';
    END IF;
    SELECT CASE WHEN s.segment IS NULL THEN 'null' WHEN s.segment = '' THEN 'empty' WHEN s.segment = '*' THEN '*'
        ELSE octet_length(s.segment) || ' bytes long' END INTO v_bad
    FROM unnest(v_segments) AS s (segment)
    WHERE coalesce(octet_length(s.segment), 0) NOT BETWEEN 1 AND 255 OR s.segment = '*' AND NOT p_pattern LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION '% has a segment that is %', p_argument, v_bad USING ERRCODE = 'HC009',
            HINT = 'Give segments of 1 to 255 bytes' || CASE WHEN p_pattern THEN '; * stands for any one.'
                ELSE ' other than *, which stands for any one where items are looked for.' END;
    ELSIF octet_length(hippocampus._namespace_path(v_segments)) > 1024 THEN
        RAISE EXCEPTION '% is % bytes long', p_argument, octet_length(hippocampus._namespace_path(v_segments))
            USING ERRCODE = 'HC006', HINT = 'Give at most 1024 bytes in all, one of them for the end of each segment.';
    END IF;
    RETURN v_segments;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_namespace IS
    'A namespace of the store, or a pattern of them. Raises HC009 or HC006 where it cannot be one.';
REVOKE ALL ON FUNCTION hippocampus._check_namespace FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_namespace TO hippocampus_reader, hippocampus_tenant, hippocampus_service;
