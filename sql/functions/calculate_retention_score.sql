-- Ebbinghaus's curve, to the letter of its source: least(1, exp(-λ·days) · (1 + ln(1 + n)) / 5).
-- STABLE, not IMMUTABLE: the clock's default is now().
CREATE OR REPLACE FUNCTION hippocampus.calculate_retention_score(
    p_access_count integer,
    p_last_accessed_at timestamptz,
    p_decay_rate double precision DEFAULT 0.1,
    p_now timestamptz DEFAULT now()
) RETURNS double precision
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    -- An access in the future (a clock that ran ahead) counts as now; beyond e^-700 the score is zero. A rate
    -- of null is the default: least would take it for infinite, and a clean-up would delete all.
    SELECT CASE WHEN (p_last_accessed_at BETWEEN '0001-01-02 00:00:00+00' AND '9999-12-30 00:00:00+00'
            AND p_now BETWEEN '0001-01-02 00:00:00+00' AND '9999-12-30 00:00:00+00') IS FALSE
        THEN hippocampus._refuse_curve(p_last_accessed_at, p_now)
        ELSE least(1.0, exp(-least(700.0, least(1e9, greatest(0.0, coalesce(p_decay_rate, 0.1)))
            * greatest(0.0, extract(epoch FROM p_now - p_last_accessed_at)::double precision) / 86400.0))
        * (1.0 + ln(1.0::double precision + greatest(0, p_access_count))) / 5.0) END;
END;
COMMENT ON FUNCTION hippocampus.calculate_retention_score IS
    'How well a memory is retained, 0 to 1: least(1, exp(-λ·days since the last access) · (1 + ln(1 + accesses)) / 5). λ is per day. 0.2 for a fresh memory that nobody has read.';
REVOKE ALL ON FUNCTION hippocampus.calculate_retention_score FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.calculate_retention_score
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
