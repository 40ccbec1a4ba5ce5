-- How far away a lower-case text says that something was: {three, day} of «three days ago», {两, 月} of «两个月前». It is
-- what stands before p_english there, and in p_chinese in the place of #, both regular expressions. Null for none, and for what
-- is only the end of a number that is none of these: «2.5 years ago», «half a year ago», «twenty-five days ago».
CREATE OR REPLACE FUNCTION hippocampus._time_count(
    p_text text,
    p_english text,
    p_chinese text
) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT coalesce(
        regexp_match(p_text, '(?<!\d[.,]|\mhalf |\mhundred and |\m(?:twen|thir|for|fif|six|seven|eigh|nine)ty[ -])\m(\d{1,2}|a couple of|couple of|a few|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|several|few) (day|week|month|year)s? ' || p_english),
        regexp_match(p_text, replace(p_chinese, '#',
            '(?<![\d.一二两兩三四五六七八九十百千零几幾])(\d{1,2}|[一二两兩三四五六七八九十几幾]{1,3})[个個]?(天|[周週]|星期|[礼禮]拜|月|年)')));
END;
COMMENT ON FUNCTION hippocampus._time_count IS 'How far away a text says that something was: a number, and day, week, month or year, in its own words; null for none.';
REVOKE ALL ON FUNCTION hippocampus._time_count FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._time_count
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
