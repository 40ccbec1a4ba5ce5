CREATE OR REPLACE FUNCTION hippocampus.effective_strength(
    p_running_intensity double precision,
    p_access_count integer,
    p_last_accessed_at timestamptz,
    p_now timestamptz DEFAULT now()
) RETURNS double precision
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    -- an intensity that is none, or out of its range, counts as the nearest one
    SELECT CASE WHEN (p_last_accessed_at BETWEEN '0001-01-02 00:00:00+00' AND '9999-12-30 00:00:00+00'
            AND p_now BETWEEN '0001-01-02 00:00:00+00' AND '9999-12-30 00:00:00+00') IS FALSE
        THEN hippocampus._refuse_curve(p_last_accessed_at, p_now)
        ELSE CASE WHEN p_running_intensity = 'NaN' OR p_running_intensity < 0 THEN 0 WHEN p_running_intensity > 1 THEN 1
                ELSE p_running_intensity END
            * exp(-least(600.0, 0.001 / hippocampus.decay_resistance(p_access_count)
                * greatest(0.0, extract(epoch FROM p_now - p_last_accessed_at)::double precision) / 3600.0)) END;
END;
COMMENT ON FUNCTION hippocampus.effective_strength IS
    'How strongly a memory is held now: intensity · exp(-0.001 / decay_resistance(n) · hours since the last access). Half-lives 28.9, 44.4, 55.3, 68.9 days for 0, 5, 20, 100 accesses.';
REVOKE ALL ON FUNCTION hippocampus.effective_strength FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.effective_strength
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
