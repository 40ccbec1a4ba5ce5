-- What else was drawn from events that are passed over from now on: every episode and summary of them, and every
-- summary after them, insight or fact from them that holds most of the words of what is forgotten; and every
-- insight from them that holds a word of it which no other event has: it can have that from nowhere else. One
-- message may tell two things; forgetting the one leaves the other. But of events and episodes that are forgotten by
-- their ids the whole is meant: what was drawn from them goes unless another event tells it as well.
CREATE OR REPLACE FUNCTION hippocampus._told_by_events(
    p_user_id text,
    p_app_name text,
    p_ids uuid[],
    p_thread_ids uuid[],
    p_seqs bigint[],
    p_query text
) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 20
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RETURN QUERY
    WITH gone AS MATERIALIZED (
        SELECT g.thread_id, g.seq FROM unnest(p_thread_ids, p_seqs) AS g (thread_id, seq)
    ), spans AS MATERIALIZED ( -- event by event, as the keys of a join: a range is compared with every event of its thread
        SELECT g.thread_id, min(g.seq) AS first, max(g.seq) AS last FROM gone g GROUP BY g.thread_id
    ), messages AS MATERIALIZED (
        SELECT left(n.text, 4000) AS text FROM hippocampus.events n
        WHERE n.id = ANY (p_ids) AND n.user_id = p_user_id AND n.app_name = p_app_name
    ), texts AS MATERIALIZED (
        SELECT left(m.content, 4000) AS text FROM hippocampus.memories m
        WHERE m.id = ANY (p_ids) AND m.user_id = p_user_id AND m.app_name = p_app_name AND m.memory_type <> 'summary'
          AND (m.memory_type <> 'episodic' OR p_query IS NULL) -- of a turn that tells two things, what was described is meant
        UNION SELECT p_query WHERE p_query IS NOT NULL
        UNION SELECT left(f.value #>> '{}', 4000) FROM hippocampus.facts f
        WHERE f.id = ANY (p_ids) AND f.user_id = p_user_id AND f.app_name = p_app_name
    ), words AS MATERIALIZED (
        SELECT array_agg(DISTINCT t.term) AS terms FROM (
            SELECT x.text FROM texts x WHERE NOT EXISTS (SELECT FROM hippocampus.memories m WHERE m.id = ANY (p_ids)
                AND m.memory_type = 'episodic' AND m.user_id = p_user_id AND m.app_name = p_app_name AND left(m.content, 4000) = x.text)
            UNION SELECT p_query
            UNION SELECT g.text FROM messages g) n
        CROSS JOIN LATERAL unnest(hippocampus._query_terms(p_app_name, n.text)) AS t (term)
    ), tellers AS MATERIALIZED ( -- under row-level security no index is asked for an expression that may fail
        SELECT w.terms[p.n] AS term, p.place / 16777216 AS number, p.place % 16777216 AS seq FROM words w
        CROSS JOIN LATERAL hippocampus._term_hits(p_user_id, p_app_name, 'event', w.terms) p
    ), own AS MATERIALIZED ( -- words that those events alone tell
        SELECT array_agg(o.term) AS terms FROM (
            SELECT t.term FROM tellers t
            JOIN hippocampus.threads h ON h.number = t.number AND h.user_id = p_user_id AND h.app_name = p_app_name
            LEFT JOIN gone g ON g.thread_id = h.id AND g.seq = t.seq
            GROUP BY t.term HAVING bool_and(g.seq IS NOT NULL)) o
    ), alike AS MATERIALIZED (
        SELECT r.row_id FROM own o
        CROSS JOIN LATERAL hippocampus._term_hits(p_user_id, p_app_name, 'memory', o.terms) p
        CROSS JOIN LATERAL hippocampus._term_row(p_user_id, p_app_name, 'memory', p.number) r
        UNION
        SELECT c.row_id FROM texts t CROSS JOIN LATERAL hippocampus._words_cover(p_user_id, p_app_name, 'memory', t.text, 0.5) c
        UNION SELECT c.row_id FROM texts t CROSS JOIN LATERAL hippocampus._words_cover(p_user_id, p_app_name, 'fact', t.text, 0.6) c
    ), summing AS (
        SELECT a.row_id FROM alike a
        UNION SELECT c.row_id FROM messages g CROSS JOIN LATERAL hippocampus._words_cover(p_user_id, p_app_name, 'memory', g.text, 0.5) c
    )
    SELECT m.id FROM spans p
    JOIN hippocampus.memories m ON m.thread_id = p.thread_id AND m.from_seq <= p.last AND m.to_seq >= p.first
        AND m.user_id = p_user_id AND m.app_name = p_app_name
    CROSS JOIN LATERAL generate_series(greatest(m.from_seq, p.first), least(m.to_seq, p.last)) AS q (seq)
    JOIN gone g ON g.thread_id = m.thread_id AND g.seq = q.seq
    WHERE m.memory_type <> 'semantic'
    UNION
    SELECT m.id FROM summing a
    JOIN hippocampus.memories m ON m.id = a.row_id AND m.user_id = p_user_id AND m.app_name = p_app_name
    WHERE m.memory_type = 'summary' AND EXISTS (SELECT FROM gone g WHERE g.thread_id = m.thread_id)
    UNION
    SELECT a.row_id FROM spans p
    JOIN hippocampus.memory_sources s ON s.thread_id = p.thread_id AND s.from_seq <= p.last AND s.to_seq >= p.first
        AND s.user_id = p_user_id AND s.app_name = p_app_name
    JOIN alike a ON a.row_id = coalesce(s.memory_id, s.fact_id)
    CROSS JOIN LATERAL generate_series(greatest(s.from_seq, p.first), least(s.to_seq, p.last)) AS q (seq)
    JOIN gone g ON g.thread_id = s.thread_id AND g.seq = q.seq
    UNION
    SELECT d FROM hippocampus._drawn_from_events(p_user_id, p_app_name, CASE WHEN p_query IS NULL THEN p_ids END) d;
END
$fn$;
COMMENT ON FUNCTION hippocampus._told_by_events IS 'Memories and facts that tell the same as what is forgotten, drawn from the same events.';
REVOKE ALL ON FUNCTION hippocampus._told_by_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._told_by_events
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
