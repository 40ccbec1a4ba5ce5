-- Enqueues the consolidation of threads whose policy says so: an urgent event, or more events than the window
-- should hold. Once a statement, whatever it appends; where no policy is enabled, it looks at nothing else.
-- A thread that need not be consolidated yet is noted for enqueue_due_consolidations, which finds what this
-- one leaves: an idle thread, and what came while the last consolidation ran.
CREATE OR REPLACE FUNCTION hippocampus._consolidate_by_policy()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_thread record;
BEGIN
    IF NOT EXISTS (SELECT FROM hippocampus.consolidation_policies p WHERE p.enabled) THEN
        RETURN NULL;
    END IF;
    FOR v_thread IN
        SELECT t.id, t.user_id, t.app_name, p.job_type, p.min_interval_seconds, u.thread_id IS NOT NULL AS noted,
            n.importance >= p.urgent_importance OR t.next_seq - 1 - hippocampus._consolidated_seq(t, p.job_type) > p.fill_ratio * p.window_events AS due
        FROM (SELECT r.thread_id, r.user_id, r.app_name, max(r.importance) AS importance FROM new_rows r
              GROUP BY r.thread_id, r.user_id, r.app_name) n
        CROSS JOIN LATERAL hippocampus._consolidation_policy(n.app_name) p
        JOIN hippocampus.threads t ON t.id = n.thread_id AND t.user_id = n.user_id AND t.app_name = n.app_name
        LEFT JOIN hippocampus.unconsolidated_threads u ON u.thread_id = t.id AND u.user_id = t.user_id AND u.app_name = t.app_name
        WHERE p.enabled
        ORDER BY t.id
    LOOP
        -- a note that is seen can't go meanwhile, since who takes it away holds the thread; an older snapshot may be wrong
        IF NOT v_thread.noted OR current_setting('transaction_isolation') <> 'read committed' THEN
            INSERT INTO hippocampus.unconsolidated_threads (thread_id, user_id, app_name)
            VALUES (v_thread.id, v_thread.user_id, v_thread.app_name)
            ON CONFLICT (thread_id, user_id, app_name) DO NOTHING;
        END IF;
        IF v_thread.due AND NOT EXISTS (
            SELECT FROM hippocampus.consolidation_jobs j
            WHERE j.thread_id = v_thread.id AND j.user_id = v_thread.user_id AND j.app_name = v_thread.app_name
              AND j.created_at > now() - make_interval(secs => v_thread.min_interval_seconds)) THEN
            PERFORM hippocampus.enqueue_consolidation(v_thread.id, v_thread.job_type);
        END IF;
    END LOOP;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._consolidate_by_policy IS 'Trigger: enqueues consolidations as the app''s policy says.';
REVOKE ALL ON FUNCTION hippocampus._consolidate_by_policy FROM PUBLIC;

CREATE OR REPLACE TRIGGER events_consolidate AFTER INSERT ON hippocampus.events
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._consolidate_by_policy();
