CREATE OR REPLACE FUNCTION hippocampus.retention_distribution(
    p_user_id text DEFAULT NULL,
    p_app_name text DEFAULT NULL,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.retention_bands
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_time('p_now', p_now);
    RETURN QUERY
    SELECT count(*), count(*) FILTER (WHERE s.score >= 0.7), count(*) FILTER (WHERE s.score >= 0.3 AND s.score < 0.7),
        count(*) FILTER (WHERE s.score < 0.3), coalesce(avg(s.score), 0)
    FROM hippocampus.memories m
    CROSS JOIN LATERAL hippocampus._retention_policy(m.app_name, m.memory_type, m.category) p
    CROSS JOIN LATERAL (SELECT hippocampus._retention(p, m.initial_score, m.running_intensity, m.access_count,
        m.last_accessed_at, m.created_at, p_now) AS score) s
    WHERE (p_user_id IS NULL OR m.user_id = p_user_id) AND (p_app_name IS NULL OR m.app_name = p_app_name);
END
$fn$;
COMMENT ON FUNCTION hippocampus.retention_distribution IS
    'How well memories are retained now: how many score 0.7 and more, 0.3 to 0.7, below 0.3, and the average.';
REVOKE ALL ON FUNCTION hippocampus.retention_distribution FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.retention_distribution
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
