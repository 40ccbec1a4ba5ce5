-- What of a value is searched: the texts and numbers at the given paths, one a line, with the names of their
-- fields where a path holds more than a text. Null paths are the whole value, no paths are nothing. Each level is a copy of
-- all that is below it, so that a value of thousands of levels would take minutes: 64 of them are looked at.
CREATE OR REPLACE FUNCTION hippocampus._store_text(
    p_value jsonb,
    p_index text[]
) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RETURN (
        SELECT coalesce(string_agg(l.line, E'\n' ORDER BY p.place, f.place, n.place, l.place), '')
        FROM unnest(coalesce(p_index, '{$}')) WITH ORDINALITY AS p (path, place)
        CROSS JOIN LATERAL jsonb_path_query(p_value, hippocampus._store_path(p.path), '{}', true) WITH ORDINALITY AS f (found, place)
        CROSS JOIN LATERAL jsonb_path_query(f.found, 'strict $.**{0 to 63}') WITH ORDINALITY AS n (node, place)
        CROSS JOIN LATERAL (
            SELECT replace(o.key, '_', ' ') || CASE WHEN jsonb_typeof(o.value) IN ('string', 'number')
                THEN ': ' || (o.value #>> '{}') ELSE '' END AS line, row_number() OVER () AS place
            FROM jsonb_each(CASE jsonb_typeof(n.node) WHEN 'object' THEN n.node ELSE '{}' END) o
            UNION ALL
            SELECT e.item #>> '{}', e.place
            FROM jsonb_array_elements(CASE jsonb_typeof(n.node) WHEN 'array' THEN n.node ELSE '[]' END) WITH ORDINALITY AS e (item, place)
            WHERE jsonb_typeof(e.item) IN ('string', 'number')
            UNION ALL
            SELECT n.node #>> '{}', 1 WHERE n.place = 1 AND jsonb_typeof(n.node) IN ('string', 'number')
        ) l
    );
END
$fn$;
COMMENT ON FUNCTION hippocampus._store_text IS 'What of a value of the store is searched: the texts and numbers at the given paths.';
REVOKE ALL ON FUNCTION hippocampus._store_text FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._store_text TO hippocampus_tenant, hippocampus_service;
