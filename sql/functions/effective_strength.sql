CREATE OR REPLACE FUNCTION hippocampus.effective_strength(
    p_running_intensity double precision,
    p_access_count integer,
    p_last_accessed_at timestamptz,
    p_now timestamptz DEFAULT now()
) RETURNS double precision
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT p_running_intensity * exp(-least(600.0, 0.001 / hippocampus.decay_resistance(p_access_count)
        * greatest(0.0, extract(epoch FROM p_now - p_last_accessed_at)::double precision) / 3600.0));
END;
COMMENT ON FUNCTION hippocampus.effective_strength IS
    'How strongly a memory is held now: intensity · exp(-0.001 / decay_resistance(n) · hours since the last access). Half-lives 28.9, 44.4, 55.3, 68.9 days for 0, 5, 20, 100 accesses.';
REVOKE ALL ON FUNCTION hippocampus.effective_strength FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.effective_strength
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
