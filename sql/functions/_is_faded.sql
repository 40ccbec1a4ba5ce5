-- The one rule of what retention deletes: below the threshold, and older than the minimum age, in days of 24 hours,
-- which are the same in every session's time zone.
CREATE OR REPLACE FUNCTION hippocampus._is_faded(
    p_policy hippocampus.retention_policies,
    p_score double precision,
    p_created_at timestamptz,
    p_now timestamptz,
    p_threshold double precision DEFAULT NULL,
    p_min_age_days integer DEFAULT NULL
) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT p_score < coalesce(p_threshold, (p_policy).threshold)
       AND p_created_at < p_now - make_interval(secs => 86400.0 * least(coalesce(p_min_age_days, (p_policy).min_age_days), 1000000));
END;
COMMENT ON FUNCTION hippocampus._is_faded IS
    'Whether a memory of this score is cleaned up, by its policy or by the threshold and minimum age that are given instead.';
REVOKE ALL ON FUNCTION hippocampus._is_faded FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._is_faded
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
