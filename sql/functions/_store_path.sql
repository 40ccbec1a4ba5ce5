-- A path into a value as SQL/JSON has it. Paths are written as frameworks write them: title, author.name,
-- chapters[0].title, notes[*].text, tags[-1]; $ is the whole.
CREATE OR REPLACE FUNCTION hippocampus._store_path(
    p_path text
) RETURNS jsonpath
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_path text := '$';
    v_step text[];
BEGIN
    IF coalesce(octet_length(p_path), 0) NOT BETWEEN 1 AND 1024
        OR p_path <> '$' AND p_path !~ '^[^.\[\]]+(\[(\*|-?[0-9]{1,6})\])*(\.[^.\[\]]+(\[(\*|-?[0-9]{1,6})\])*)*$' THEN
        RAISE EXCEPTION 'p_index has the path %', coalesce(quote_literal(left(p_path, 100)), 'null')
            USING ERRCODE = 'HC009', HINT = 'Give paths such as title, author.name, notes[*].text or tags[-1]; $ for the whole.';
    ELSIF p_path = '$' THEN
        RETURN '$';
    END IF;
    FOR v_step IN SELECT regexp_matches(p_path, '([^.\[\]]+)|\[(\*|-?[0-9]+)\]', 'g') LOOP
        v_path := v_path || CASE
            WHEN v_step[1] IS NOT NULL THEN '.' || to_json(v_step[1])
            WHEN v_step[2] LIKE '-%' THEN format('[last - %s]', -1 - v_step[2]::integer)
            ELSE format('[%s]', v_step[2]) END;
    END LOOP;
    RETURN v_path::jsonpath;
END
$fn$;
COMMENT ON FUNCTION hippocampus._store_path IS 'A path into a value of the store. Raises HC009 for one that cannot be read.';
REVOKE ALL ON FUNCTION hippocampus._store_path FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._store_path TO hippocampus_tenant, hippocampus_service;
