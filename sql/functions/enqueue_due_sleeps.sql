-- Enqueues the sleeps that are due: of users of whom something was consolidated since their last one.
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
    RETURN (SELECT count(hippocampus.enqueue_sleep(d.user_id, d.app_name)) FROM (
        SELECT DISTINCT j.user_id, j.app_name
        FROM hippocampus.consolidation_policies p
        JOIN hippocampus.consolidation_jobs j ON j.app_name = p.app_name AND j.status = 'completed'
            AND j.created_at > p_now - 2 * make_interval(hours => p.sleep_hours)
        WHERE p.sleep_enabled AND NOT EXISTS (
            SELECT FROM hippocampus.sleep_reports r
            WHERE r.user_id = j.user_id AND r.app_name = j.app_name
              AND (r.created_at > p_now - make_interval(hours => p.sleep_hours) OR r.created_at > j.completed_at))
        ORDER BY 2, 1 LIMIT p_limit) d);
END
$fn$;
COMMENT ON FUNCTION hippocampus.enqueue_due_sleeps IS
    'Enqueues the sleeps that are due in apps whose own policy has sleep_enabled; at most p_limit. Returns how many. A worker calls it every so often.';
REVOKE ALL ON FUNCTION hippocampus.enqueue_due_sleeps FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.enqueue_due_sleeps TO hippocampus_service, hippocampus_worker;
