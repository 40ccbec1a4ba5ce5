-- The terms of a text and how often each stands in it: what the index of words holds and what a query looks up.
--
-- Scripts that are written without spaces (Chinese, Japanese, Korean, Thai …) give pairs of neighbouring
-- characters. Han, Hangul and emoji give each character too, since one alone is often a word (猫), and a pair
-- of the question («猫叫…») need not be one of the answer («一只猫»). Everything else goes through Postgres's own parser and the
-- dictionary of p_config. A text that mixes both gives both. Only the first 200,000 characters count, and of
-- words beyond ASCII the first 100,000: a tsvector holds 1 MiB, and a hyphenated word stands in it twice.
--
-- The parser leans on the database's LC_CTYPE: where that is C, it takes every character beyond ASCII for a
-- letter, “ and … included, and folds no case. So punctuation and case are dealt with before it.
CREATE OR REPLACE FUNCTION hippocampus._text_terms(
    p_text text,
    p_config regconfig DEFAULT 'pg_catalog.english'
) RETURNS TABLE (term text, tf integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER ROWS 20
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    -- Thai to Tibetan, Myanmar, Khmer; Hangul; Japanese and Chinese with their extensions; emoji
    c_unspaced CONSTANT text := '[\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2300-\u23ff\u2600-\u27bf'
        '\u2b00-\u2bff\u3005-\u3007\u3041-\u3096\u309d-\u30fa\u30fc-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf'
        '\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001f000-\U0001faff\U00020000-\U0003ffff]+';
    -- of these, where one character can be a word
    c_word CONSTANT text := '[\u2300-\u27bf\u2b00-\u2bff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U0001f000-\U0003ffff]';
    -- spaces and punctuation beyond ASCII, of Latin, Greek, Hebrew, Arabic, Armenian, Indic and CJK texts
    c_blank CONSTANT text := '[\u0080-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u037e\u0387'
        '\u055a-\u055f\u0589\u058a\u05be\u05c0\u05c3\u05f3\u05f4\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965'
        '\u0970\u1361-\u1368\u1680\u2000-\u22ff\u2400-\u25ff\u27c0-\u2aff\u2e00-\u2e7f\u3000-\u3004\u3008-\u3040'
        '\u3097-\u309c\u30fb\ufe10-\ufe6f\uff00-\uff65]';
    -- joiners, marks of direction and of variants, soft hyphens: «می‌خواهم» is one word, «❤️» one heart
    c_unseen CONSTANT text := '[\u00ad\u061c\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]';
    v_text text := left(p_text, 200000);
    v_forms jsonb := CASE WHEN p_config = 'pg_catalog.english'::regconfig THEN hippocampus._irregular_forms() ELSE '{}' END;
BEGIN
    IF octet_length(v_text) = char_length(v_text) THEN -- ASCII: nothing to fold, nothing unspaced
        RETURN QUERY
        SELECT coalesce(v_forms ->> l.lexeme, l.lexeme), sum(cardinality(l.positions))::integer
        FROM unnest(to_tsvector(p_config, v_text)) AS l GROUP BY 1;
        RETURN;
    END IF;
    IF v_text ~ '[\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff]' THEN
        -- é is found by e: not everybody types accents. On Latin letters only: the marks of other scripts are letters.
        v_text := regexp_replace(normalize(v_text, NFKD), '([A-Za-z])[\u0300-\u036f]+', '\1', 'g');
    END IF;
    -- in the database's collation, not the caller's: an argument that comes from a "C" column would bring it along
    v_text := replace(lower(normalize(regexp_replace(v_text, c_unseen, '', 'g'), NFKC) COLLATE "default"), 'ς', 'σ');
    RETURN QUERY
    SELECT coalesce(v_forms ->> l.lexeme, l.lexeme), sum(cardinality(l.positions))::integer
    FROM unnest(to_tsvector(p_config, left(regexp_replace(v_text, c_unspaced || '|' || c_blank, ' ', 'g'), 100000))) AS l
    GROUP BY 1
    UNION ALL
    SELECT g.term, count(*)::integer
    FROM (
        SELECT unnest(CASE WHEN p.next IS NULL THEN ARRAY[p.ch] WHEN p.ch ~ c_word THEN ARRAY[p.ch || p.next, p.ch]
            ELSE ARRAY[p.ch || p.next] END) AS term
        FROM (
            SELECT c.ch, lead(c.ch) OVER (PARTITION BY r.n ORDER BY c.n) AS next
            FROM regexp_matches(v_text, c_unspaced, 'g') WITH ORDINALITY AS r (run, n)
            CROSS JOIN LATERAL unnest(string_to_array(r.run[1], NULL)) WITH ORDINALITY AS c (ch, n)
        ) p
    ) AS g
    GROUP BY g.term;
END
$fn$;
COMMENT ON FUNCTION hippocampus._text_terms IS
    'The terms of a text with their counts: dictionary forms of words, pairs of characters where a script has no spaces.';
REVOKE ALL ON FUNCTION hippocampus._text_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._text_terms
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
