-- Appends one event: append_events without the JSON.
CREATE OR REPLACE FUNCTION hippocampus.append_event(
    p_thread_id uuid,
    p_author text,
    p_event_type text,
    p_content jsonb,
    p_text text DEFAULT NULL,
    p_category text DEFAULT 'chat',
    p_importance double precision DEFAULT NULL,
    p_tags text[] DEFAULT '{}',
    p_metadata jsonb DEFAULT '{}',
    p_event_id text DEFAULT NULL,
    p_invocation_id text DEFAULT NULL,
    p_branch text DEFAULT NULL,
    p_token_count integer DEFAULT NULL,
    p_created_at timestamptz DEFAULT NULL,
    p_expected_version bigint DEFAULT NULL,
    p_context jsonb DEFAULT '{}'
) RETURNS hippocampus.events
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_event hippocampus.events;
    v_context jsonb := hippocampus._check_object('p_context', p_context, 262144);
BEGIN
    PERFORM hippocampus._check_range('p_importance', coalesce(p_importance, 0), 0, 1);
    SELECT e.* INTO v_event FROM hippocampus._append(p_thread_id, ARRAY[
        ROW (p_created_at, NULL, coalesce(p_importance, hippocampus.score_importance(hippocampus._event_category(p_category, p_content), v_context))::real, p_token_count, NULL, NULL, NULL, NULL, NULL, p_author, p_event_type,
            p_category, p_event_id, p_invocation_id, p_branch, p_text, p_tags, p_content, p_metadata)::hippocampus.events],
        p_expected_version) e;
    IF NOT FOUND THEN -- the thread has this event_id already
        SELECT e.* INTO v_event FROM hippocampus.events e
        WHERE e.thread_id = p_thread_id AND e.event_id = p_event_id;
    END IF;
    RETURN v_event;
END
$fn$;
COMMENT ON FUNCTION hippocampus.append_event IS
    'Appends one event to a thread and returns its row; where the thread has p_event_id already, that row. p_text is what is searched, drawn from p_content by default; p_importance is by default score_importance of p_category and p_context, which is not stored; p_created_at is now() by default.';
REVOKE ALL ON FUNCTION hippocampus.append_event FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.append_event TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
