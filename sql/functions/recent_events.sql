-- The newest events of a thread, or of all of a user's threads, oldest first, whatever they matter: what of them is short-term
-- memory is short_term_memory's to say.
CREATE OR REPLACE FUNCTION hippocampus.recent_events(
    p_user_id text,
    p_app_name text,
    p_thread_id uuid DEFAULT NULL,
    p_limit integer DEFAULT 100
) RETURNS SETOF hippocampus.events
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 100
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_limit', p_limit, 0, 10000);
    PERFORM hippocampus._check_thread(p_user_id, p_app_name, p_thread_id);
    IF p_thread_id IS NULL THEN
        RETURN QUERY
        SELECT r.* FROM (
            SELECT e.* FROM hippocampus.events e
            WHERE e.user_id = p_user_id AND e.app_name = p_app_name
            ORDER BY e.created_at DESC, e.thread_id DESC, e.sequence_num DESC LIMIT p_limit) r
        ORDER BY r.created_at, r.thread_id, r.sequence_num;
    ELSE
        RETURN QUERY
        SELECT r.* FROM (
            SELECT e.* FROM hippocampus.events e
            WHERE e.thread_id = p_thread_id AND e.user_id = p_user_id AND e.app_name = p_app_name
            ORDER BY e.sequence_num DESC LIMIT p_limit) r
        ORDER BY r.sequence_num;
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus.recent_events IS
    'The newest events of a thread, or of all of a user''s threads where p_thread_id is null; oldest first. Raises HC002 for an unknown thread.';
REVOKE ALL ON FUNCTION hippocampus.recent_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.recent_events
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
