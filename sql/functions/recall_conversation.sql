-- Search in the log itself. What was meant often stands beside the words that were asked for (an answer does
-- not repeat its question), so an event shares in the score of its two neighbours.
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
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_limit', p_limit, 0, 10000);
    RETURN QUERY
    WITH hits AS (
        SELECT e.thread_id, e.sequence_num, t.bm25
        FROM (SELECT h.row_id, h.bm25
              FROM hippocampus._text_hits(p_user_id, p_app_name, 'event', coalesce(p_query, '')) h
              ORDER BY h.bm25 DESC, h.row_id LIMIT CASE WHEN p_thread_id IS NULL THEN 10 * p_limit END) t
        JOIN hippocampus.events e ON e.id = t.row_id AND e.user_id = p_user_id AND e.app_name = p_app_name
        WHERE p_thread_id IS NULL OR e.thread_id = p_thread_id
    ), spread AS (
        SELECT h.thread_id, h.sequence_num + d.step AS sequence_num, sum(h.bm25 * d.share) AS score
        FROM hits h CROSS JOIN (VALUES (-1, 0.3), (0, 1.0), (1, 0.3)) AS d (step, share)
        GROUP BY h.thread_id, h.sequence_num + d.step
    )
    SELECT e.id, e.thread_id, e.sequence_num, s.score::double precision, e.author, e.event_type, e.category, e.text,
        e.content, e.importance, e.token_count, e.token_count_exact, e.created_at
    FROM spread s
    JOIN hippocampus.events e ON e.thread_id = s.thread_id AND e.sequence_num = s.sequence_num
        AND e.user_id = p_user_id AND e.app_name = p_app_name
    ORDER BY s.score DESC, e.created_at DESC, e.thread_id, e.sequence_num
    LIMIT p_limit;
END
$fn$;
COMMENT ON FUNCTION hippocampus.recall_conversation IS
    'Searches a user''s session log by words, consolidated or not; an event shares in its neighbours'' score.';
REVOKE ALL ON FUNCTION hippocampus.recall_conversation FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.recall_conversation
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
