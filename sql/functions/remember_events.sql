-- Makes episodes of a thread's events at once, in their own words, where fast replay would make them later: each
-- event that has a text and no episode of its own yet, but for what was forgotten. The words and the place are those of fast replay with
-- episodic_turns 1, so it finds them there and adds nothing twice. Two that do so for a thread follow each
-- other at its row.
CREATE OR REPLACE FUNCTION hippocampus.remember_events(
    p_user_id text,
    p_app_name text,
    p_thread_id uuid,
    p_source text DEFAULT 'client'
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_event hippocampus.events;
    v_count integer := 0;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM FROM hippocampus.threads t
    WHERE t.id = p_thread_id AND t.user_id = p_user_id AND t.app_name = p_app_name FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'thread % is unknown', coalesce(p_thread_id::text, 'null')
            USING ERRCODE = 'HC002', HINT = 'Create it with create_thread; it must be of the same user and app.';
    END IF;
    FOR v_event IN
        SELECT e.* FROM hippocampus.events e
        WHERE e.thread_id = p_thread_id AND e.user_id = p_user_id AND e.app_name = p_app_name
          AND e.text ~ '\S' AND octet_length(e.author) + octet_length(e.text) < 1000000
          AND NOT EXISTS (
              SELECT FROM hippocampus.memories m
              WHERE m.thread_id = e.thread_id AND m.user_id = p_user_id AND m.app_name = p_app_name
                AND m.memory_type = 'episodic' AND m.from_seq = e.sequence_num AND m.to_seq = e.sequence_num)
          AND NOT EXISTS (
              SELECT FROM hippocampus.forgotten_events f
              WHERE f.thread_id = e.thread_id AND f.sequence_num = e.sequence_num AND f.user_id = p_user_id AND f.app_name = p_app_name)
        ORDER BY e.sequence_num
    LOOP
        PERFORM hippocampus.remember(p_user_id, p_app_name, v_event.author || ': ' || v_event.text, 'episodic',
            p_category => v_event.category, p_importance => v_event.importance, p_tags => v_event.tags, p_source => p_source,
            p_author => v_event.author, p_thread_id => p_thread_id, p_from_seq => v_event.sequence_num,
            p_to_seq => v_event.sequence_num, p_occurred_from => v_event.created_at, p_occurred_until => v_event.created_at,
            p_token_count => CASE WHEN v_event.token_count_exact THEN v_event.token_count END);
        v_count := v_count + 1;
    END LOOP;
    PERFORM hippocampus._adopt_uses(p_user_id, p_app_name, p_thread_id);
    RETURN v_count;
END
$fn$;
COMMENT ON FUNCTION hippocampus.remember_events IS
    'Makes an episode of each event of a thread that has a text and no episode of its own yet, and returns how many: a search finds them from the next statement on, without a worker. Consolidation adds what it draws from them. Raises HC002 for an unknown thread.';
REVOKE ALL ON FUNCTION hippocampus.remember_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.remember_events TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
