-- A memory's score under its policy: the model's curve, but never below what is left of its first worth,
-- so that an insight stored at 1.0 is not worth 0.2 at the first refresh.
CREATE OR REPLACE FUNCTION hippocampus._retention(
    p_policy hippocampus.retention_policies,
    p_initial_score double precision,
    p_running_intensity double precision,
    p_access_count integer,
    p_last_accessed_at timestamptz,
    p_created_at timestamptz,
    p_now timestamptz
) RETURNS double precision
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT greatest(
        CASE (p_policy).model
            WHEN 'strength' THEN hippocampus.effective_strength(
                p_running_intensity, p_access_count, p_last_accessed_at, p_now)
            ELSE hippocampus.calculate_retention_score(
                p_access_count, p_last_accessed_at, (p_policy).decay_rate, p_now)
        END,
        (p_policy).initial_weight * p_initial_score * exp(-least(600.0, (p_policy).decay_rate
            * greatest(0.0, extract(epoch FROM p_now - p_created_at)::double precision) / 86400.0)));
END;
COMMENT ON FUNCTION hippocampus._retention IS
    'A memory''s retention under a policy at a time: greatest(curve of the policy''s model, initial_weight · initial_score · exp(-λ · days since stored)).';
REVOKE ALL ON FUNCTION hippocampus._retention FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._retention
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
