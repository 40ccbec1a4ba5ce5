-- Enqueues the sleeps that are due: of users of whom a memory was stored since their last one, by whatever way, but
-- by the sleep itself; or of whom one that a sleep left got its vector. Nobody notes who these users are, which would
-- cost each writer: it goes from one user of the index to the next.
CREATE OR REPLACE FUNCTION hippocampus.enqueue_due_sleeps(
    p_limit integer DEFAULT 100,
    p_now timestamptz DEFAULT now()
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_range('p_limit', p_limit, 1, 100000);
    PERFORM hippocampus._check_time('p_now', p_now);
    IF NOT EXISTS (SELECT FROM hippocampus.consolidation_policies p WHERE p.sleep_enabled) THEN
        RETURN 0;
    END IF;
    RETURN (
        WITH RECURSIVE users AS (
            (SELECT m.user_id, m.app_name FROM hippocampus.memories m ORDER BY m.user_id, m.app_name LIMIT 1)
            UNION ALL
            SELECT n.user_id, n.app_name FROM users u CROSS JOIN LATERAL (
                SELECT m.user_id, m.app_name FROM hippocampus.memories m
                WHERE (m.user_id, m.app_name) > (u.user_id, u.app_name) ORDER BY m.user_id, m.app_name LIMIT 1) n
        )
        SELECT count(hippocampus.enqueue_sleep(d.user_id, d.app_name)) FROM (
            SELECT u.user_id, u.app_name FROM users u
            CROSS JOIN LATERAL hippocampus._consolidation_policy(u.app_name) p
            CROSS JOIN LATERAL (
                SELECT coalesce(max(r.started_at) FILTER (WHERE r.status = 'completed'), '-infinity') AS seen, max(r.created_at) AS asked
                FROM hippocampus.sleep_reports r WHERE r.user_id = u.user_id AND r.app_name = u.app_name) l
            WHERE p.sleep_enabled AND (l.asked IS NULL OR l.asked <= p_now - make_interval(hours => p.sleep_hours))
              AND (EXISTS (SELECT FROM hippocampus.memories m WHERE m.user_id = u.user_id AND m.app_name = u.app_name
                       AND m.created_at > l.seen AND m.source <> 'sleep')
                OR EXISTS (SELECT FROM hippocampus.untidied_memories w
                       JOIN hippocampus.embedding_models g ON g.status = 'serving'
                       JOIN hippocampus.embeddings e ON e.user_id = w.user_id AND e.app_name = w.app_name
                           AND e.generation = g.generation AND e.source = 'memory' AND e.row_id = w.memory_id
                       WHERE w.user_id = u.user_id AND w.app_name = u.app_name))
            LIMIT p_limit) d);
END
$fn$;
COMMENT ON FUNCTION hippocampus.enqueue_due_sleeps IS
    'Enqueues the sleeps that are due in apps whose policy has sleep_enabled; at most p_limit. Returns how many. A worker calls it every so often.';
REVOKE ALL ON FUNCTION hippocampus.enqueue_due_sleeps FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.enqueue_due_sleeps TO hippocampus_service, hippocampus_worker;
