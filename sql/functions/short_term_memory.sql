-- Short-term memory: the last events that the app's policy keeps in mind, oldest first. One range of an index,
-- whatever the log holds: the policy's number of newest events, of them those that are young or important.
CREATE OR REPLACE FUNCTION hippocampus.short_term_memory(
    p_user_id text,
    p_app_name text,
    p_thread_id uuid DEFAULT NULL,
    p_unconsolidated boolean DEFAULT false,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.events
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 100
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_policy hippocampus.consolidation_policies;
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_time('p_now', p_now);
    SELECT p.* INTO v_policy FROM hippocampus._consolidation_policy(p_app_name) p;
    RETURN QUERY
    SELECT e.*
    FROM hippocampus.recent_events(p_user_id, p_app_name, p_thread_id, v_policy.window_events) e
    WHERE (e.created_at > p_now - make_interval(secs => v_policy.window_seconds) OR e.importance >= v_policy.keep_importance)
      AND NOT EXISTS (SELECT FROM hippocampus.forgotten_events f WHERE f.thread_id = e.thread_id AND f.sequence_num = e.sequence_num
          AND f.user_id = p_user_id AND f.app_name = p_app_name)
      AND (NOT p_unconsolidated OR e.sequence_num > (
          SELECT hippocampus._consolidated_seq(t, v_policy.job_type) FROM hippocampus.threads t
          WHERE t.id = e.thread_id AND t.user_id = p_user_id AND t.app_name = p_app_name))
    ORDER BY CASE WHEN p_thread_id IS NULL THEN e.created_at END, e.thread_id, e.sequence_num;
END
$fn$;
COMMENT ON FUNCTION hippocampus.short_term_memory IS
    'Short-term memory of a thread, or of all of a user''s threads: of the last 100 events those of the last hour and those at least 0.5 important (see consolidation_policies), oldest first. p_unconsolidated leaves out what is long-term memory already: what consolidations of the policy''s job_type have read. Nothing leaves the log with it. Raises HC002 for an unknown thread.';
REVOKE ALL ON FUNCTION hippocampus.short_term_memory FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.short_term_memory
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
