-- The time that a question asks about, resolved against when it is asked: «last week», «two months ago», «in May
-- 2023», «May 8th», «three days before May 8th», «上个月», «三天前», «5月8号». Days are those of UTC, as everywhere here. What is counted
-- is as exact as people count (see _time_away). Null where no time is named, or only one that takes more than a calendar («before
-- I moved», «three days before my wedding»: see _event_time).
CREATE OR REPLACE FUNCTION hippocampus.resolve_time(
    p_text text,
    p_now timestamptz DEFAULT now()
) RETURNS tstzrange
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_text text := lower(p_text COLLATE "default");
    v_today date;
    v_week date; -- its Monday
    v_month date;
    v_year date;
    v_range daterange;
    v_ago text[];
    v_count integer;
    v_back integer; -- 2 of «上上周», the week before the last
BEGIN
    PERFORM hippocampus._check_time('p_now', p_now);
    -- Most questions name no time. All that is understood below holds one of these, and one expression costs less
    -- than thirty: Postgres keeps 32 compiled, and would compile them anew at each search.
    IF (v_text ~ '\d|[月年天周週昨今]|星期|[礼禮]拜|day|week|month|year|night|morning|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec') IS NOT TRUE THEN
        RETURN NULL;
    END IF;
    v_today := (p_now AT TIME ZONE 'UTC')::date;
    v_week := date_trunc('week', v_today);
    v_month := date_trunc('month', v_today);
    v_year := date_trunc('year', v_today);
    IF v_text ~ '\m(day|night|evening|morning|week|month|year)s? (before|after)\M|[前后後]' THEN -- «three days before May 8th», «5月8日前三天»
        v_ago := hippocampus._event_clause(v_text);
        v_range := hippocampus._named_time(CASE WHEN cardinality(v_ago) = 4 THEN v_ago[2] END, v_today);
        v_range := CASE WHEN upper(v_range) - lower(v_range) = 1 THEN
            hippocampus._time_away(lower(v_range), v_ago[3]::integer, v_ago[4]) END; -- from a day only
    END IF;
    v_range := coalesce(v_range, hippocampus._named_time(v_text, v_today));
    IF v_range IS NULL THEN
        -- before says earlier than now where nothing follows that it is before of
        v_ago := hippocampus._time_count(v_text, '(?:ago\M|earlier\M(?! than\M)|back\M(?! (?:home|to|at|in|into|from|with|together)\M)|before\M'
            '(?=\s*(?:$|[^\s[:alnum:]]|(?:about|and(?! after\M)|or|but|did|do|does|was|were|is|are|had|has|have)\M)))', '(?<!的)#(?:之|以)?前');
        v_range := hippocampus._time_away(v_today, -hippocampus._small_number(v_ago[1]), v_ago[2]);
    END IF;
    IF v_range IS NULL AND v_text ~ '\m(last|past|previous|this|yesterday|today|tonight)\M|[昨今前上去这這本]' THEN
        v_ago := coalesce(
            regexp_match(v_text, '\mlast (mon|tues|wednes|thurs|fri|satur|sun)day\M'), regexp_match(v_text, '上[个個一]?(?:[周週]|星期|[礼禮]拜)([一二三四五六日天])'));
        v_count := coalesce(array_position(ARRAY['mon', 'tues', 'wednes', 'thurs', 'fri', 'satur', 'sun'], v_ago[1]),
            array_position(ARRAY['一', '二', '三', '四', '五', '六', '日'], replace(v_ago[1], '天', '日')));
        v_back := CASE WHEN v_text ~ '(?<![早晚])上上' THEN 2 ELSE 1 END;
        v_range := CASE
            -- «last Saturday» is the latest one before today; «上周六» that of the week before
            WHEN v_ago[1] ~ '[a-z]' THEN daterange(v_today - 1 - (extract(isodow FROM v_today)::integer - 1 - v_count + 7) % 7,
                v_today - (extract(isodow FROM v_today)::integer - 1 - v_count + 7) % 7)
            WHEN v_count IS NOT NULL THEN daterange(v_week - 7 * v_back - 1 + v_count, v_week - 7 * v_back + v_count)
            WHEN v_text ~ '大前天' THEN daterange(v_today - 3, v_today - 2)
            WHEN v_text ~ '\mday before yesterday\M|前天' THEN daterange(v_today - 2, v_today - 1)
            WHEN v_text ~ '\myesterday\M|\mlast night\M|昨天|昨晚|昨日' THEN daterange(v_today - 1, v_today)
            WHEN v_text ~ '\m(today|this morning|tonight)\M|今天|今早|今晚' THEN daterange(v_today, v_today + 1)
            WHEN v_text ~ '\m(last|past|previous) week(end)?\M|上[个個一]?([周週]|星期|[礼禮]拜)' THEN
                daterange(v_week - 7 * v_back, CASE v_back WHEN 1 THEN greatest(v_week, v_today - 1) ELSE v_week - 7 END)
            WHEN v_text ~ '\mthis week\M|[这這本][个個]?([周週]|星期|[礼禮]拜)' THEN daterange(v_week, v_today + 1)
            WHEN v_text ~ '\m(last|past|previous) month\M|上[个個一]?月' THEN
                daterange((v_month - make_interval(months => v_back))::date, (v_month - make_interval(months => v_back - 1))::date)
            WHEN v_text ~ '\mthis month\M|[这這本][个個]?月' THEN daterange(v_month, v_today + 1)
            WHEN v_text ~ '\m(last|past|previous) year\M|去年' THEN daterange((v_year - interval '1 year')::date, v_year)
            WHEN v_text ~ '大前年' THEN daterange((v_year - interval '3 years')::date, (v_year - interval '2 years')::date)
            WHEN v_text ~ '前年' THEN daterange((v_year - interval '2 years')::date, (v_year - interval '1 year')::date)
            WHEN v_text ~ '\mthis year\M|今年' THEN daterange(v_year, v_today + 1)
        END;
    END IF;
    RETURN CASE WHEN v_range IS NOT NULL THEN
        tstzrange(lower(v_range)::timestamp AT TIME ZONE 'UTC', upper(v_range)::timestamp AT TIME ZONE 'UTC') END;
END
$fn$;
COMMENT ON FUNCTION hippocampus.resolve_time IS
    'The time that a question asks about, in English or Chinese, resolved against p_now: a range in UTC, [from, to). Null where it names none. search_memory takes it as evidence, not as a filter; for a filter pass it as p_since and p_until.';
REVOKE ALL ON FUNCTION hippocampus.resolve_time FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.resolve_time
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
