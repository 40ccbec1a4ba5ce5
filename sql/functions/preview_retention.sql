-- What the next retention sweep would delete, and why: below the policy's threshold and old enough, or beyond the
-- number that the policy allows, lowest scores first. The rules are those of sweep_faded and trim_memories.
CREATE OR REPLACE FUNCTION hippocampus.preview_retention(
    p_user_id text,
    p_app_name text,
    p_limit integer DEFAULT 1000,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.retention_plans
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 100
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_limit', p_limit, 0, 1000000);
    PERFORM hippocampus._check_time('p_now', p_now);
    RETURN QUERY
    WITH scored AS MATERIALIZED (
        SELECT m.id, m.memory_type, m.category, m.created_at, p.app_name AS p_app, p.memory_type AS p_type, p.category AS p_category,
            p.threshold, p.min_age_days, p.max_per_user, s.score, hippocampus._is_faded(p, s.score, m.created_at, p_now) AS faded
        FROM hippocampus.memories m
        CROSS JOIN LATERAL hippocampus._retention_policy(m.app_name, m.memory_type, m.category) p
        CROSS JOIN LATERAL (SELECT hippocampus._retention(p, m.initial_score, m.running_intensity, m.access_count,
            m.last_accessed_at, m.created_at, p_now) AS score) s
        WHERE m.user_id = p_user_id AND m.app_name = p_app_name
    ), placed AS (
        -- what has faded goes first, and leaves its place to the rest
        SELECT s.*, row_number() OVER (PARTITION BY s.p_app, s.p_type, s.p_category, s.faded
            ORDER BY s.score DESC, s.created_at DESC, s.id) AS place
        FROM scored s
    )
    SELECT l.id, p_user_id, p_app_name, l.memory_type, l.category, CASE WHEN l.faded THEN 'faded' ELSE 'over the limit' END, l.score,
        l.threshold, extract(epoch FROM p_now - l.created_at)::double precision / 86400, l.min_age_days,
        CASE WHEN l.faded THEN 0 ELSE l.place END, l.max_per_user
    FROM placed l
    WHERE (l.faded OR l.place > l.max_per_user) AND NOT EXISTS (SELECT FROM hippocampus._pinned(ARRAY[l.id], ARRAY[p_user_id], ARRAY[p_app_name]))
    ORDER BY l.score, l.created_at, l.id
    LIMIT p_limit;
END
$fn$;
COMMENT ON FUNCTION hippocampus.preview_retention IS
    'What the next retention sweep would delete of a user''s memories, lowest first, and why: faded (its score is below its policy''s threshold, and it is older than the minimum age) or over the limit (of more memories than its policy allows, those with the lowest scores). All of what it would delete: what was made of them stays. Deletes nothing.';
REVOKE ALL ON FUNCTION hippocampus.preview_retention FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.preview_retention
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
