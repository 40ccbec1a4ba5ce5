-- The terms of a text and how often each stands in it: what postings hold and what a query looks up.
--
-- Scripts that are written without spaces (Chinese, Japanese, Korean, Thai …) give pairs of neighbouring
-- characters, the last character of a run standing alone, so that each character begins one term and a
-- single character is found by its prefix. Everything else goes through Postgres's own parser and the
-- dictionary of p_config. A text that mixes both gives both. Only the first 200,000 characters count.
CREATE OR REPLACE FUNCTION hippocampus._text_terms(
    p_text text,
    p_config regconfig DEFAULT 'pg_catalog.english'
) RETURNS TABLE (term text, tf integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER ROWS 20
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    -- Thai to Tibetan, Myanmar, Khmer; Hangul; Japanese and Chinese with their extensions; emoji
    c_unspaced CONSTANT text := '[\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2600-\u27bf\u3005-\u3007'
        '\u3041-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff'
        '\U0001f300-\U0001faff\U00020000-\U0003ffff]+';
    v_text text := left(p_text, 200000);
BEGIN
    IF octet_length(v_text) = char_length(v_text) THEN -- ASCII: nothing to fold, nothing unspaced
        RETURN QUERY
        SELECT l.lexeme, cardinality(l.positions) FROM unnest(to_tsvector(p_config, v_text)) AS l;
        RETURN;
    END IF;
    v_text := normalize(v_text, NFKC);
    RETURN QUERY
    SELECT l.lexeme, cardinality(l.positions)
    FROM unnest(to_tsvector(p_config, regexp_replace(v_text, c_unspaced, ' ', 'g'))) AS l
    UNION ALL
    SELECT g.pair, count(*)::integer
    FROM (
        SELECT c.ch || coalesce(lead(c.ch) OVER (PARTITION BY r.n ORDER BY c.n), '') AS pair
        FROM regexp_matches(v_text, c_unspaced, 'g') WITH ORDINALITY AS r (run, n)
        CROSS JOIN LATERAL unnest(string_to_array(r.run[1], NULL)) WITH ORDINALITY AS c (ch, n)
    ) AS g
    GROUP BY g.pair;
END
$fn$;
COMMENT ON FUNCTION hippocampus._text_terms IS
    'The terms of a text with their counts: dictionary forms of words, pairs of characters where a script has no spaces.';
REVOKE ALL ON FUNCTION hippocampus._text_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._text_terms
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
