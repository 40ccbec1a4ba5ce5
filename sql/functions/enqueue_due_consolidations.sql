-- Enqueues what no append enqueued: threads that have fallen silent, whose oldest waiting event is about to
-- leave the window, or that were appended to while their last consolidation ran. A thread that somebody is
-- writing is left for the next call, and one whose consolidation has failed for an hour. Forgets the note of a
-- thread that has nothing left, under the thread's lock, so that no append can be missed.
CREATE OR REPLACE FUNCTION hippocampus.enqueue_due_consolidations(
    p_limit integer DEFAULT 100,
    p_now timestamptz DEFAULT now()
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_thread record;
    v_count integer := 0;
BEGIN
    PERFORM hippocampus._check_range('p_limit', p_limit, 1, 100000);
    PERFORM hippocampus._check_time('p_now', p_now);
    WITH settled AS MATERIALIZED (
        SELECT t.id, t.user_id, t.app_name
        FROM hippocampus.unconsolidated_threads u
        JOIN hippocampus.threads t ON t.id = u.thread_id AND t.user_id = u.user_id AND t.app_name = u.app_name
        WHERE (SELECT NOT p.enabled OR hippocampus._consolidated_seq(t, p.job_type) >= t.next_seq - 1
               FROM hippocampus._consolidation_policy(t.app_name) p)
        ORDER BY t.id FOR NO KEY UPDATE OF t SKIP LOCKED
    )
    DELETE FROM hippocampus.unconsolidated_threads u USING settled s
    WHERE u.thread_id = s.id AND u.user_id = s.user_id AND u.app_name = s.app_name;
    FOR v_thread IN
        SELECT t.id, t.user_id, t.app_name, p.job_type
        FROM hippocampus.unconsolidated_threads u
        JOIN hippocampus.threads t ON t.id = u.thread_id AND t.user_id = u.user_id AND t.app_name = u.app_name
        CROSS JOIN LATERAL hippocampus._consolidation_policy(u.app_name) p
        WHERE p.enabled AND hippocampus._consolidated_seq(t, p.job_type) < t.next_seq - 1
          AND (t.updated_at <= p_now - make_interval(secs => p.idle_seconds)
               OR (SELECT e.created_at FROM hippocampus.events e
                   WHERE e.thread_id = t.id AND e.sequence_num > hippocampus._consolidated_seq(t, p.job_type)
                     AND e.user_id = t.user_id AND e.app_name = t.app_name
                   ORDER BY e.sequence_num LIMIT 1) <= p_now - make_interval(secs => p.window_seconds)
               OR t.next_seq - 1 - hippocampus._consolidated_seq(t, p.job_type) > p.fill_ratio * p.window_events
               OR EXISTS (SELECT FROM hippocampus.events e
                          WHERE e.thread_id = t.id AND e.sequence_num > hippocampus._consolidated_seq(t, p.job_type)
                          AND e.user_id = t.user_id AND e.app_name = t.app_name AND e.importance >= p.urgent_importance))
          AND NOT EXISTS (
              SELECT FROM hippocampus.consolidation_jobs j
              WHERE j.thread_id = t.id AND j.user_id = t.user_id AND j.app_name = t.app_name
                AND (j.created_at > p_now - make_interval(secs => p.min_interval_seconds) OR j.status IN ('pending', 'running')
                     OR j.status = 'failed' AND j.completed_at > p_now - interval '1 hour'))
        ORDER BY u.created_at, t.id
        LIMIT p_limit
    LOOP
        CONTINUE WHEN NOT hippocampus._try_scope(v_thread.user_id, v_thread.app_name);
        PERFORM FROM hippocampus.threads t WHERE t.id = v_thread.id FOR NO KEY UPDATE SKIP LOCKED;
        IF FOUND THEN
            PERFORM hippocampus.enqueue_consolidation(v_thread.id, v_thread.job_type);
            v_count := v_count + 1;
        END IF;
    END LOOP;
    RETURN v_count;
END
$fn$;
COMMENT ON FUNCTION hippocampus.enqueue_due_consolidations IS
    'Enqueues the consolidations that are due by the policies of apps: idle threads, full ones, those with an urgent event. At most p_limit; returns how many. A worker calls it every so often.';
REVOKE ALL ON FUNCTION hippocampus.enqueue_due_consolidations FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.enqueue_due_consolidations TO hippocampus_service, hippocampus_worker;
