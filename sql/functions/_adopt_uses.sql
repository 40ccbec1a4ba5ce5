-- Gives the episodes of a thread the uses that their events had in short-term memory, of several events those of the
-- one most used, since a recall that shows two of them is one use of the episode.
CREATE OR REPLACE FUNCTION hippocampus._adopt_uses(
    p_user_id text,
    p_app_name text,
    p_thread_id uuid,
    p_now timestamptz DEFAULT now()
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan -- see _short_term
AS $fn$
DECLARE
    v_count integer;
BEGIN
    WITH told AS MATERIALIZED (
        SELECT u.sequence_num, u.access_count, u.last_accessed_at, e.id
        FROM hippocampus.event_uses u
        CROSS JOIN LATERAL hippocampus._episode_at(p_user_id, p_app_name, u.thread_id, u.sequence_num) AS e (id)
        WHERE u.thread_id = p_thread_id AND u.user_id = p_user_id AND u.app_name = p_app_name
    ), used AS (
        SELECT m.id, least(m.access_count::bigint + t.uses, 2147483647)::integer AS uses, t.last_accessed_at
        FROM (SELECT o.id, max(o.access_count) AS uses, max(o.last_accessed_at) AS last_accessed_at FROM told o GROUP BY o.id) t
        JOIN hippocampus.memories m ON m.id = t.id AND m.user_id = p_user_id AND m.app_name = p_app_name
        ORDER BY m.id FOR NO KEY UPDATE OF m
    ), adopted AS (
        UPDATE hippocampus.memories m
        SET access_count = u.uses, last_accessed_at = greatest(m.last_accessed_at, u.last_accessed_at),
            retention_score = hippocampus._retention(p, m.initial_score, m.running_intensity, u.uses,
                greatest(m.last_accessed_at, u.last_accessed_at), m.created_at, p_now)
        FROM used u
        JOIN hippocampus.memories k ON k.id = u.id AND k.user_id = p_user_id AND k.app_name = p_app_name
        CROSS JOIN LATERAL hippocampus._retention_policy(p_app_name, k.memory_type, k.category) p
        WHERE m.id = u.id AND m.user_id = p_user_id AND m.app_name = p_app_name
    )
    DELETE FROM hippocampus.event_uses u USING told t
    WHERE u.thread_id = p_thread_id AND u.sequence_num = t.sequence_num AND u.user_id = p_user_id AND u.app_name = p_app_name;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$fn$;
COMMENT ON FUNCTION hippocampus._adopt_uses IS 'Gives episodes of a thread the uses that their events had; returns of how many events.';
REVOKE ALL ON FUNCTION hippocampus._adopt_uses FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._adopt_uses TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
