-- The events that tell what memories and facts say: those that an episode slices; of the events that anything
-- else was drawn from, those that share its words (all of them, where none does); and, anywhere else in the user's
-- log, those that hold most of its words, two at least: a word alone is told of many things («red»). A fact's key
-- counts then, but it is the value that must be there. What has no source is looked for by a word alone where that is
-- all that is found of it. A summary tells of many things, and points at no event. And the events that p_ids
-- name themselves.
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
        SELECT m.id, m.memory_type = 'episodic' AS whole, left(m.content, 4000) AS text, NULL AS fact_text, m.thread_id, m.from_seq, m.to_seq
        FROM hippocampus.memories m
        WHERE m.id = ANY (p_ids) AND m.user_id = p_user_id AND m.app_name = p_app_name AND m.memory_type <> 'summary'
        UNION ALL SELECT f.id, false, left(f.value #>> '{}', 4000), left(hippocampus._fact_text(f.key, f.value), 4000), NULL, NULL, NULL
        FROM hippocampus.facts f
        WHERE f.id = ANY (p_ids) AND f.user_id = p_user_id AND f.app_name = p_app_name
    ), ranges AS MATERIALIZED (
        SELECT t.id, t.text, t.whole, t.thread_id, t.from_seq, t.to_seq FROM told t WHERE t.thread_id IS NOT NULL AND t.from_seq IS NOT NULL
        UNION SELECT t.id, t.text, t.whole, s.thread_id, s.from_seq, s.to_seq FROM told t
        JOIN hippocampus.memory_sources s ON s.memory_id = t.id AND s.user_id = p_user_id AND s.app_name = p_app_name
        UNION SELECT t.id, t.text, t.whole, s.thread_id, s.from_seq, s.to_seq FROM told t
        JOIN hippocampus.memory_sources s ON s.fact_id = t.id AND s.user_id = p_user_id AND s.app_name = p_app_name
    ), covered AS MATERIALIZED ( -- under row-level security no index is asked for an expression that may fail
        SELECT t.id, t.text, c.place, c.place / 16777216 AS number, c.place % 16777216 AS sequence_num, c.cover, c.words FROM told t
        CROSS JOIN LATERAL hippocampus._words_cover(p_user_id, p_app_name, 'event', t.text, 0.3) c
    ), named AS MATERIALIZED ( -- with the key: of those that hold the value of one word
        SELECT t.id, c.place FROM told t
        CROSS JOIN LATERAL hippocampus._words_cover(p_user_id, p_app_name, 'event', t.fact_text, 0.3) c
        WHERE t.fact_text IS NOT NULL AND c.words >= 2
          AND EXISTS (SELECT FROM covered o WHERE o.id = t.id AND o.cover >= 0.6 AND o.words < 2)
    ), words AS MATERIALIZED (
        SELECT c.id, c.text, h.id AS thread_id, c.sequence_num, c.cover >= 0.6 AS most,
            c.cover >= 0.6 AND (c.words >= 2 OR EXISTS (SELECT FROM named n WHERE n.id = c.id AND n.place = c.place)) AS clear
        FROM covered c
        JOIN hippocampus.threads h ON h.number = c.number AND h.user_id = p_user_id AND h.app_name = p_app_name
    ), sourced AS (
        SELECT e.thread_id, e.sequence_num, r.whole OR w.id IS NOT NULL AS tells,
            bool_or(r.whole OR w.id IS NOT NULL) OVER (PARTITION BY r.id, r.thread_id, r.from_seq, r.to_seq) AS any_tells
        FROM ranges r
        CROSS JOIN LATERAL ( -- range by range: by thread alone, each would be compared with all of the conversation
            SELECT n.thread_id, n.sequence_num FROM hippocampus.events n
            WHERE n.thread_id = r.thread_id AND n.sequence_num BETWEEN r.from_seq AND r.to_seq
              AND n.user_id = p_user_id AND n.app_name = p_app_name OFFSET 0) e
        LEFT JOIN words w ON w.id = r.id AND w.thread_id = e.thread_id AND w.sequence_num = e.sequence_num
    )
    SELECT s.thread_id, s.sequence_num FROM sourced s WHERE s.tells OR NOT s.any_tells
    UNION SELECT w.thread_id, w.sequence_num FROM words w
    WHERE w.clear OR w.most AND NOT EXISTS (SELECT FROM ranges r WHERE r.text = w.text)
        AND NOT EXISTS (SELECT FROM words o WHERE o.text = w.text AND o.clear)
    UNION SELECT n.thread_id, n.sequence_num FROM hippocampus.events n
    WHERE n.id = ANY (p_ids) AND n.user_id = p_user_id AND n.app_name = p_app_name;
END
$fn$;
COMMENT ON FUNCTION hippocampus._telling_events IS 'The events of a user''s log that tell what memories and facts say.';
REVOKE ALL ON FUNCTION hippocampus._telling_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._telling_events
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
