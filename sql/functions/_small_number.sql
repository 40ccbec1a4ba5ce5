-- A number below 100 in digits or in words: 12, two, couple, 两, 十二. Null for anything else.
CREATE OR REPLACE FUNCTION hippocampus._small_number(
    p_text text
) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT CASE
        WHEN p_text ~ '^\d{1,2}$' THEN p_text::integer
        WHEN p_text ~ '^[一二三四五六七八九]?十[一二三四五六七八九]?$' THEN
            10 * CASE WHEN p_text LIKE '十%' THEN 1 ELSE position(left(p_text, 1) IN '一二三四五六七八九') END
            + CASE WHEN p_text LIKE '%十' THEN 0 ELSE position(right(p_text, 1) IN '一二三四五六七八九') END
        WHEN p_text ~ '^[一二三四五六七八九]$' THEN position(p_text IN '一二三四五六七八九')
        ELSE (SELECT w.n FROM (VALUES ('a', 1), ('an', 1), ('one', 1), ('two', 2), ('couple', 2), ('couple of', 2), ('a couple of', 2),
                ('three', 3), ('few', 3), ('a few', 3), ('several', 4), ('four', 4), ('five', 5), ('six', 6), ('seven', 7),
                ('eight', 8), ('nine', 9), ('ten', 10), ('eleven', 11), ('twelve', 12), ('两', 2), ('兩', 2), ('几', 3), ('幾', 3)
            ) AS w (word, n) WHERE w.word = p_text)
    END;
END;
COMMENT ON FUNCTION hippocampus._small_number IS 'A number below 100 that is written in digits, in English or in Chinese.';
REVOKE ALL ON FUNCTION hippocampus._small_number FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._small_number
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
