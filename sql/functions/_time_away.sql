-- The days that are so far from a day, before it where the number is below 0. What people count in weeks and months they do not
-- count to the day, nor many days: such a time is a range around it. «The week» before a day
-- reaches up to it, with a day on each side. Null for no number.
CREATE OR REPLACE FUNCTION hippocampus._time_away(
    p_day date,
    p_count integer,
    p_unit text
) RETURNS daterange
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT CASE
        WHEN p_count IS NULL THEN NULL
        WHEN p_unit IN ('day', '天') THEN daterange(p_day + p_count - abs(p_count) / 7, p_day + p_count + abs(p_count) / 7 + 1)
        WHEN p_unit = 'the week' THEN CASE WHEN p_count < 0 THEN daterange(p_day - 8, p_day + 1) ELSE daterange(p_day, p_day + 9) END
        WHEN p_unit IN ('month', '月') THEN daterange((p_day + make_interval(months => p_count))::date - 20, (p_day + make_interval(months => p_count))::date + 21)
        WHEN p_unit IN ('year', '年') THEN daterange((p_day + make_interval(years => p_count))::date - 120, (p_day + make_interval(years => p_count))::date + 121)
        ELSE daterange(p_day + 7 * p_count - 4, p_day + 7 * p_count + 5) -- weeks, of four names
    END;
END;
COMMENT ON FUNCTION hippocampus._time_away IS 'The days that are a number of days, weeks, months or years from a day, as exactly as people count them.';
REVOKE ALL ON FUNCTION hippocampus._time_away FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._time_away
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
