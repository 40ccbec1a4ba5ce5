CREATE OR REPLACE FUNCTION hippocampus.decay_resistance(
    p_access_count integer
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT 1.0 + 0.3 * ln(1.0::double precision + greatest(0, p_access_count));
END;
COMMENT ON FUNCTION hippocampus.decay_resistance IS
    'How slowly a memory weakens, for its accesses: 1 + 0.3·ln(1 + n). 1.0, 1.54, 1.91, 2.38 for 0, 5, 20, 100.';
REVOKE ALL ON FUNCTION hippocampus.decay_resistance FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.decay_resistance
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
