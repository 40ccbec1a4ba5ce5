-- Refuses tags that are too many, null, empty or too long; null is no tags. Gives the tags, so that it can
-- stand where they are written, also where they are known only then (a merge).
CREATE OR REPLACE FUNCTION hippocampus._check_tags(
    p_argument text,
    p_tags text[]
) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_tag text;
BEGIN
    IF cardinality(p_tags) > 64 THEN
        RAISE EXCEPTION '% has % tags', p_argument, cardinality(p_tags) USING ERRCODE = 'HC009', HINT = 'Give at most 64.';
    END IF;
    IF array_ndims(p_tags) > 1 THEN
        RAISE EXCEPTION '% has % dimensions', p_argument, array_ndims(p_tags) USING ERRCODE = 'HC009', HINT = 'Give a list of tags.';
    END IF;
    SELECT t.tag INTO v_tag FROM unnest(p_tags) AS t (tag) WHERE coalesce(octet_length(t.tag), 0) NOT BETWEEN 1 AND 255 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION '% has a tag that is %', p_argument, CASE WHEN v_tag IS NULL THEN 'null' WHEN v_tag = '' THEN 'empty'
                ELSE octet_length(v_tag) || ' bytes long' END
            USING ERRCODE = 'HC009', HINT = 'Give tags of 1 to 255 bytes.';
    END IF;
    RETURN coalesce(p_tags, '{}');
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_tags IS
    'Tags, none for null. Raises HC009 where they are no list or over 64, or one is null, empty or over 255 bytes.';
REVOKE ALL ON FUNCTION hippocampus._check_tags FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_tags
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
