-- The events that tell what memories and facts say: those that an episode slices; of the events that anything
-- else was drawn from, those that share its words (all of them, where none does); and, anywhere in the user's
-- log, those that hold most of its words. A summary tells of many things, and points at no event. And the events
-- that p_ids name themselves.
CREATE OR REPLACE FUNCTION hippocampus._telling_events(
    p_user_id text,
    p_app_name text,
    p_ids uuid[]
) RETURNS TABLE (thread_id uuid, sequence_num bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 20
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RETURN QUERY
    WITH told AS MATERIALIZED (
        SELECT m.id, m.memory_type = 'episodic' AS whole, left(m.content, 4000) AS text, m.thread_id, m.from_seq, m.to_seq
        FROM hippocampus.memories m
        WHERE m.id = ANY (p_ids) AND m.user_id = p_user_id AND m.app_name = p_app_name AND m.memory_type <> 'summary'
        UNION ALL SELECT f.id, false, left(f.value #>> '{}', 4000), NULL, NULL, NULL FROM hippocampus.facts f
        WHERE f.id = ANY (p_ids) AND f.user_id = p_user_id AND f.app_name = p_app_name
    ), ranges AS MATERIALIZED (
        SELECT t.id, t.whole, t.thread_id, t.from_seq, t.to_seq FROM told t WHERE t.thread_id IS NOT NULL AND t.from_seq IS NOT NULL
        UNION SELECT t.id, t.whole, s.thread_id, s.from_seq, s.to_seq FROM told t
        JOIN hippocampus.memory_sources s ON s.memory_id = t.id AND s.user_id = p_user_id AND s.app_name = p_app_name
        UNION SELECT t.id, t.whole, s.thread_id, s.from_seq, s.to_seq FROM told t
        JOIN hippocampus.memory_sources s ON s.fact_id = t.id AND s.user_id = p_user_id AND s.app_name = p_app_name
    ), covered AS MATERIALIZED ( -- under row-level security no index is asked for an expression that may fail
        SELECT t.id, c.place / 16777216 AS number, c.place % 16777216 AS sequence_num, c.cover FROM told t
        CROSS JOIN LATERAL hippocampus._words_cover(p_user_id, p_app_name, 'event', t.text, 0.3) c
    ), words AS MATERIALIZED (
        SELECT c.id, h.id AS thread_id, c.sequence_num, c.cover FROM covered c
        JOIN hippocampus.threads h ON h.number = c.number AND h.user_id = p_user_id AND h.app_name = p_app_name
    ), sourced AS (
        SELECT e.thread_id, e.sequence_num, r.whole OR w.id IS NOT NULL AS tells,
            bool_or(r.whole OR w.id IS NOT NULL) OVER (PARTITION BY r.id, r.thread_id, r.from_seq, r.to_seq) AS any_tells
        FROM ranges r
        JOIN hippocampus.events e ON e.thread_id = r.thread_id AND e.sequence_num BETWEEN r.from_seq AND r.to_seq
            AND e.user_id = p_user_id AND e.app_name = p_app_name
        LEFT JOIN words w ON w.id = r.id AND w.thread_id = e.thread_id AND w.sequence_num = e.sequence_num
    )
    SELECT s.thread_id, s.sequence_num FROM sourced s WHERE s.tells OR NOT s.any_tells
    UNION SELECT w.thread_id, w.sequence_num FROM words w WHERE w.cover >= 0.6
    UNION SELECT n.thread_id, n.sequence_num FROM hippocampus.events n
    WHERE n.id = ANY (p_ids) AND n.user_id = p_user_id AND n.app_name = p_app_name;
END
$fn$;
COMMENT ON FUNCTION hippocampus._telling_events IS 'The events of a user''s log that tell what memories and facts say.';
REVOKE ALL ON FUNCTION hippocampus._telling_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._telling_events
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
