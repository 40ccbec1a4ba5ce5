-- The day, month or year that a text names, in English or Chinese: 2023-05-08, 8 May 2023, May 8th, in May, 2023年5月8日,
-- 5月8号, 五月八日. Without a year it is the last one that had begun by p_today, and of two digits (23年5月) the
-- last such. Null where it names none.
CREATE OR REPLACE FUNCTION hippocampus._named_time(
    p_text text,
    p_today date
) RETURNS daterange
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_months constant text := 'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
    v_digits constant text := '\d{1,2}|[一二三四五六七八九]?十[一二三四五六七八九]?|[一二三四五六七八九]';
    v_this constant integer := extract(year FROM p_today);
    v_parts text[]; -- year, month, day
    v_year integer;
    v_month integer;
    v_day integer;
    v_first date;
BEGIN
    IF (p_text ~ '\d|[月年]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec') IS NOT TRUE THEN -- one expression for most texts, as in resolve_time
        RETURN NULL;
    END IF;
    v_parts := coalesce(
        regexp_match(p_text, '(?<!\d)((?:19|20)\d\d)[-/.](\d{1,2})(?:[-/.](\d{1,2}))?(?!\d)'),
        regexp_match(p_text, '(?:((?:19|20)?\d\d)年)?(' || v_digits || ')月(?:份?的?(' || v_digits || ')[日号號])?'));
    IF v_parts IS NULL THEN
        v_parts := regexp_match(p_text, '(?:\m(\d{1,2})(?:st|nd|rd|th)?(?: of)? )?\m(' || v_months || ')\M\.?(?: (\d{1,2})(?:st|nd|rd|th)?\M)?(?:(?:,| of)? ((?:19|20)\d\d))?');
        -- «may» is a month beside a number or after a word that months follow
        IF v_parts[2] = 'may' AND num_nonnulls(v_parts[1], v_parts[3], v_parts[4]) = 0
           AND p_text !~ '\m(in|of|since|until|during|early|late|last|this|next|by) may\M' THEN
            v_parts := NULL;
        END IF;
        v_parts := CASE WHEN v_parts IS NOT NULL THEN ARRAY[v_parts[4],
            ((position(left(v_parts[2], 3) IN 'janfebmaraprmayjunjulaugsepoctnovdec') + 2) / 3)::text, coalesce(v_parts[1], v_parts[3])] END;
    END IF;
    IF v_parts IS NULL THEN -- a year alone
        v_year := (coalesce(regexp_match(p_text, '((?:19|20)\d\d)年'), regexp_match(p_text, '\m(?:in|of|since|during|year) ((?:19|20)\d\d)\M')))[1]::integer;
        RETURN CASE WHEN v_year IS NOT NULL THEN daterange(make_date(v_year, 1, 1), make_date(v_year + 1, 1, 1)) END;
    END IF;
    v_month := hippocampus._small_number(v_parts[2]);
    v_day := hippocampus._small_number(v_parts[3]);
    IF v_month NOT BETWEEN 1 AND 12 OR v_day NOT BETWEEN 1 AND 31 THEN
        RETURN NULL;
    END IF;
    v_year := coalesce(v_parts[1]::integer + CASE WHEN length(v_parts[1]) = 4 THEN 0 WHEN 2000 + v_parts[1]::integer <= v_this THEN 2000 ELSE 1900 END,
        v_this - CASE WHEN p_text ~ '去年|last year' THEN 1 WHEN p_text ~ '大前年' THEN 3 WHEN p_text ~ '前年' THEN 2 WHEN p_text ~ '明年|\mnext year\M' THEN -1
            WHEN p_text ~ ('今年|\mthis (?:year|' || v_months || ')\M') THEN 0 END);
    IF v_year IS NULL THEN
        v_year := v_this - CASE WHEN (v_month, coalesce(v_day, 1)) > (extract(month FROM p_today)::integer, extract(day FROM p_today)::integer) THEN 1 ELSE 0 END
            - CASE WHEN p_text ~ ('\mnext (?:' || v_months || ')\M') THEN -1 ELSE 0 END;
        WHILE v_month = 2 AND v_day = 29 AND v_year > 4 AND extract(day FROM make_date(v_year, 3, 1) - 1) < 29 LOOP
            v_year := v_year - 1; -- no other has that day
        END LOOP;
    END IF;
    IF v_year < 1 THEN
        RETURN NULL; -- no day that a calendar here counts
    END IF;
    v_first := make_date(v_year, v_month, 1);
    IF v_day IS NULL THEN
        RETURN daterange(v_first, (v_first + interval '1 month')::date);
    ELSIF v_day > extract(day FROM v_first + interval '1 month - 1 day') THEN
        RETURN NULL; -- 30 February
    END IF;
    RETURN daterange(v_first + v_day - 1, v_first + v_day);
END
$fn$;
COMMENT ON FUNCTION hippocampus._named_time IS 'The day, month or year that a lower-case text names; null for none.';
REVOKE ALL ON FUNCTION hippocampus._named_time FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._named_time
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
