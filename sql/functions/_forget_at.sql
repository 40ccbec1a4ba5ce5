-- _is_faded solved for the time: before this instant it is false. Each of the two parts of _retention falls below the
-- threshold at ln(what it begins with / threshold) / rate, and stays there. A second early, and no more than 1,000,000
-- days away, for what floating point may be off by: a sweep that comes too early predicts anew.
CREATE OR REPLACE FUNCTION hippocampus._forget_at(
    p_policy hippocampus.retention_policies,
    p_initial_score double precision,
    p_running_intensity double precision,
    p_access_count integer,
    p_last_accessed_at timestamptz,
    p_created_at timestamptz
) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT CASE WHEN (p_policy).threshold = 0 THEN '9999-12-30 00:00:00+00' ELSE least('9999-12-30 00:00:00+00', greatest('0001-01-02 00:00:00+00',
        p_created_at + make_interval(secs => 86400.0 * least((p_policy).min_age_days, 1000000) - 1),
        max(CASE WHEN s.score < (p_policy).threshold THEN '-infinity'
            WHEN s.rate = 0 THEN 'infinity'
            ELSE s.since + make_interval(secs => 86400.0 * least(1000000.0, ln(s.score / nullif((p_policy).threshold, 0)) / s.rate) - 1) END))) END
    FROM (VALUES
        ((p_policy).initial_weight * p_initial_score, (p_policy).decay_rate, p_created_at),
        (CASE (p_policy).model WHEN 'strength' THEN p_running_intensity ELSE (1.0 + ln(1.0::double precision + p_access_count)) / 5.0 END,
         CASE (p_policy).model WHEN 'strength' THEN 0.024 / hippocampus.decay_resistance(p_access_count) ELSE (p_policy).decay_rate END,
         p_last_accessed_at)) AS s (score, rate, since);
END;
COMMENT ON FUNCTION hippocampus._forget_at IS 'The instant from which on a memory may be below its policy''s threshold and old enough to be cleaned up.';
REVOKE ALL ON FUNCTION hippocampus._forget_at FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._forget_at TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
