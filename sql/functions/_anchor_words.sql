-- The words of a text in order, in their dictionary forms: what anchors and questions are compared by. A run of
-- a script that is written without spaces (Thai to Tibetan, Japanese, Chinese) is one word here; _anchor_grams
-- takes it apart. Punctuation and case are dealt with before the parser, which leans on the database's LC_CTYPE.
CREATE OR REPLACE FUNCTION hippocampus._anchor_words(
    p_text text,
    p_config regconfig DEFAULT 'pg_catalog.english'
) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    c_unspaced CONSTANT text := '[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]';
    c_blank CONSTANT text := '[\u0021-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b1\u00b6-\u00b9\u00bb-\u00bf\u2000-\u2bff\u3000-\u3004\u3008-\u303f\u30fb\uff00-\uff65]+';
    v_text text := regexp_replace(lower(normalize(left(p_text, 20000), NFKC) COLLATE "default"), c_blank, ' ', 'g');
BEGIN
    RETURN coalesce((
        SELECT array_agg(w.word ORDER BY r.n, w.n)
        FROM regexp_matches(v_text, c_unspaced || '+|[^' || substr(c_unspaced, 2) || '+', 'g') WITH ORDINALITY AS r (run, n)
        CROSS JOIN LATERAL (
            SELECT r.run[1] AS word, 0 AS n WHERE r.run[1] ~ ('^' || c_unspaced)
            UNION ALL
            SELECT l.lexeme, p.at FROM unnest(to_tsvector(p_config, r.run[1])) AS l CROSS JOIN LATERAL unnest(l.positions) AS p (at)
            WHERE r.run[1] !~ ('^' || c_unspaced)
        ) w), '{}');
END
$fn$;
COMMENT ON FUNCTION hippocampus._anchor_words IS
    'The words of a text in order, in dictionary forms; a run of a script without spaces is one.';
REVOKE ALL ON FUNCTION hippocampus._anchor_words FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._anchor_words
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
