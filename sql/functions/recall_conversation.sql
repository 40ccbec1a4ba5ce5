-- Search in the log itself, by the evidence of an event's words, its neighbours' and its conversation's: what
-- was meant often stands beside the words that were asked for.
CREATE OR REPLACE FUNCTION hippocampus.recall_conversation(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_limit integer DEFAULT 20,
    p_thread_id uuid DEFAULT NULL
) RETURNS SETOF hippocampus.event_hits
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 20
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_number bigint;
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_limit', p_limit, 0, 10000);
    IF p_thread_id IS NOT NULL THEN
        SELECT t.number INTO v_number FROM hippocampus.threads t
        WHERE t.id = p_thread_id AND t.user_id = p_user_id AND t.app_name = p_app_name;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'thread % is unknown', p_thread_id
                USING ERRCODE = 'HC002', HINT = 'Leave p_thread_id out to search all of the user''s threads.';
        END IF;
    END IF;
    RETURN QUERY
    WITH told AS (
        SELECT h.id AS thread_id, t.seq, t.nearby / max(t.nearby) OVER () AS nearby,
            coalesce(t.session / nullif(max(t.session) OVER (), 0), 0) AS session -- a word of all talks tells none apart
        FROM (SELECT v.*, v.place / 16777216 AS number, v.place % 16777216 AS seq -- made here, see _word_hits
              FROM hippocampus._evidence(p_user_id, p_app_name, 'event', hippocampus._query_terms(p_app_name, p_query),
                  greatest(100, p_limit), v_number) v OFFSET 0) t
        JOIN hippocampus.threads h ON h.number = t.number AND h.user_id = p_user_id AND h.app_name = p_app_name
        -- what was forgotten has no words in the index, but stands where its neighbours' words would bring it in
        WHERE NOT EXISTS (SELECT FROM hippocampus.forgotten_events f WHERE f.thread_id = h.id AND f.sequence_num = t.seq
            AND f.user_id = p_user_id AND f.app_name = p_app_name)
    )
    SELECT e.id, e.thread_id, e.sequence_num, (s.nearby + 0.5 * s.session) / 1.5 AS score, e.author, e.event_type, e.category,
        e.text, e.content, e.importance, e.token_count, e.token_count_exact, e.created_at,
        hippocampus._trust(e.author, e.event_type, e.category, e.content)
    FROM told s
    JOIN hippocampus.events e ON e.thread_id = s.thread_id AND e.sequence_num = s.seq
        AND e.user_id = p_user_id AND e.app_name = p_app_name
    ORDER BY score DESC, e.created_at DESC, e.thread_id, e.sequence_num
    LIMIT p_limit;
END
$fn$;
COMMENT ON FUNCTION hippocampus.recall_conversation IS
    'Searches a user''s session log by words, consolidated or not, in all threads or one (HC002 where it is unknown); an event has part in the evidence of its neighbours and its conversation. What was forgotten is not found.';
REVOKE ALL ON FUNCTION hippocampus.recall_conversation FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.recall_conversation
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
