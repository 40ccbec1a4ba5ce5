-- The newest events of a thread, or of all of a user's threads where p_thread_id is null, newest first, as far
-- as a budget could show them; each with its line and its price. A thread's order is that of its sequence
-- numbers: clients' clocks may stand still or run back. What was forgotten stands in the log of the application, but
-- comes before no model again. A line begins with its speaker and nothing else does, and what
-- a tool gave under another's name says so.
CREATE OR REPLACE FUNCTION hippocampus._context_history(
    p_user_id text,
    p_app_name text,
    p_budget integer,
    p_thread_id uuid
) RETURNS SETOF hippocampus.context_lines
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 100
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_rows integer := greatest(20, p_budget / 4); -- an entry has four tokens at least
BEGIN
    RETURN QUERY
    SELECT r.rank, r.id, r.thread_id, r.sequence_num, r.line, hippocampus._context_price(r.token_count,
        1 + CASE WHEN r.of_tool THEN 4 ELSE 0 END + 2 * regexp_count(r.author, '[:：]'), r.line, false)
    FROM (
        SELECT e.id, e.thread_id, e.sequence_num, hippocampus._speaker(e.author)
                || CASE WHEN e.of_tool THEN ' (tool): ' ELSE ': ' END || e.text AS line, e.author, e.of_tool, e.token_count,
            row_number() OVER newest AS rank, sum(e.token_count + 1) FILTER (WHERE e.token_count <= p_budget)
                OVER (newest ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
        FROM (SELECT u.*, (u.category = 'tool-use' OR u.event_type ~* '^(tool|function)')
                AND lower(u.author) NOT IN ('tool', 'function') AS of_tool FROM (
            (SELECT h.id, h.thread_id, h.sequence_num, h.author, h.category, h.event_type, h.text, h.token_count, NULL::timestamptz AS created_at
             FROM hippocampus.events h
             WHERE p_thread_id IS NOT NULL AND h.thread_id = p_thread_id AND h.user_id = p_user_id AND h.app_name = p_app_name
               AND h.text <> '' AND NOT EXISTS (SELECT FROM hippocampus.forgotten_events f
                   WHERE f.thread_id = h.thread_id AND f.sequence_num = h.sequence_num AND f.user_id = p_user_id AND f.app_name = p_app_name)
             ORDER BY h.sequence_num DESC LIMIT v_rows)
            UNION ALL
            (SELECT h.id, h.thread_id, h.sequence_num, h.author, h.category, h.event_type, h.text, h.token_count, h.created_at
             FROM hippocampus.events h
             WHERE p_thread_id IS NULL AND h.user_id = p_user_id AND h.app_name = p_app_name AND h.text <> ''
               AND NOT EXISTS (SELECT FROM hippocampus.forgotten_events f
                   WHERE f.thread_id = h.thread_id AND f.sequence_num = h.sequence_num AND f.user_id = p_user_id AND f.app_name = p_app_name)
             ORDER BY h.created_at DESC, h.thread_id DESC, h.sequence_num DESC LIMIT v_rows)
        ) u) e
        WINDOW newest AS (ORDER BY e.created_at DESC, e.thread_id DESC, e.sequence_num DESC)
    ) r
    WHERE coalesce(r.before, 0) <= p_budget;
END
$fn$;
COMMENT ON FUNCTION hippocampus._context_history IS
    'The events that a window could show, newest first, each as a line with the tokens that it costs at most.';
REVOKE ALL ON FUNCTION hippocampus._context_history FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._context_history
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
