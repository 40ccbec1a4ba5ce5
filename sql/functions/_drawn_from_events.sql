-- What was drawn from events that are forgotten by themselves (p_ids), or with an episode that slices them: of the facts
-- and memories that have one of them among their sources, those of which no other event there tells as much, by their
-- words. What was drawn from them alone has no other; a fact that the user told twice stays, as long as one of the two does.
-- Null stands for no ids.
CREATE OR REPLACE FUNCTION hippocampus._drawn_from_events(
    p_user_id text,
    p_app_name text,
    p_ids uuid[]
) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE PARALLEL SAFE STRICT SECURITY INVOKER ROWS 20
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RETURN QUERY
    WITH gone AS MATERIALIZED (
        SELECT e.thread_id, e.sequence_num AS seq FROM hippocampus.events e
        WHERE e.id = ANY (p_ids) AND e.user_id = p_user_id AND e.app_name = p_app_name
        UNION SELECT n.thread_id, n.sequence_num FROM hippocampus.memories m
        JOIN hippocampus.events n ON n.thread_id = m.thread_id AND n.sequence_num BETWEEN m.from_seq AND m.to_seq
            AND n.user_id = p_user_id AND n.app_name = p_app_name
        WHERE m.id = ANY (p_ids) AND m.memory_type = 'episodic' AND m.user_id = p_user_id AND m.app_name = p_app_name
    ), drawn AS MATERIALIZED (
        SELECT DISTINCT s.memory_id, s.fact_id FROM gone g
        JOIN hippocampus.memory_sources s ON s.thread_id = g.thread_id AND g.seq BETWEEN s.from_seq AND s.to_seq
            AND s.user_id = p_user_id AND s.app_name = p_app_name
    ), told AS MATERIALIZED (
        SELECT m.id, hippocampus._query_terms(p_app_name, left(m.content, 4000)) AS terms FROM drawn d
        JOIN hippocampus.memories m ON m.id = d.memory_id AND m.user_id = p_user_id AND m.app_name = p_app_name
        UNION ALL SELECT f.id, hippocampus._query_terms(p_app_name, left(f.value #>> '{}', 4000)) FROM drawn d
        JOIN hippocampus.facts f ON f.id = d.fact_id AND f.user_id = p_user_id AND f.app_name = p_app_name
    ), ranges AS MATERIALIZED (
        SELECT s.memory_id AS id, s.thread_id, s.from_seq, s.to_seq FROM drawn d
        JOIN hippocampus.memory_sources s ON s.memory_id = d.memory_id AND s.user_id = p_user_id AND s.app_name = p_app_name
        UNION SELECT s.fact_id, s.thread_id, s.from_seq, s.to_seq FROM drawn d
        JOIN hippocampus.memory_sources s ON s.fact_id = d.fact_id AND s.user_id = p_user_id AND s.app_name = p_app_name
    ), asked AS MATERIALIZED (
        SELECT array_agg(DISTINCT u.term) AS terms, (SELECT i.rows FROM hippocampus._indexed_rows(p_user_id, p_app_name, 'event') i) AS rows
        FROM told t CROSS JOIN LATERAL unnest(t.terms) AS u (term)
    ), weighed AS MATERIALIZED (
        SELECT w.term, w.idf FROM asked a
        CROSS JOIN LATERAL hippocampus._term_weights(p_user_id, p_app_name, 'event', a.terms, a.rows, true) w
    ), words AS MATERIALIZED ( -- a word of events that were passed over alone, which are in no index, is as rare as can be
        SELECT n.term, coalesce(w.idf, ln(2 + 2 * a.rows)) AS idf FROM asked a
        CROSS JOIN LATERAL unnest(a.terms) AS n (term)
        LEFT JOIN weighed w ON w.term = n.term
    ), logged AS MATERIALIZED ( -- the words of the events of all these sources, but of others that were forgotten before
        SELECT e.thread_id, e.sequence_num AS seq, w.term, w.idf
        FROM (SELECT DISTINCT r.thread_id, r.from_seq, r.to_seq FROM ranges r) r
        JOIN hippocampus.events e ON e.thread_id = r.thread_id AND e.sequence_num BETWEEN r.from_seq AND r.to_seq
            AND e.user_id = p_user_id AND e.app_name = p_app_name
        LEFT JOIN gone g ON g.thread_id = e.thread_id AND g.seq = e.sequence_num
        LEFT JOIN hippocampus.forgotten_events f ON f.thread_id = e.thread_id AND f.sequence_num = e.sequence_num
            AND f.user_id = p_user_id AND f.app_name = p_app_name
        LEFT JOIN hippocampus.row_terms i ON i.row_id = e.id AND i.user_id = p_user_id AND i.app_name = p_app_name AND i.source = 'event'
        CROSS JOIN LATERAL unnest(CASE WHEN f.thread_id IS NULL THEN i.terms -- one that was passed over is in no index
            WHEN g.thread_id IS NOT NULL THEN hippocampus._query_terms(p_app_name, left(e.text, 4000)) END) AS u (term)
        JOIN words w ON w.term = u.term
        GROUP BY e.thread_id, e.sequence_num, w.term, w.idf
    ), tells AS (
        SELECT t.id, l.thread_id, l.seq, sum(l.idf) AS much
        FROM told t CROSS JOIN LATERAL unnest(t.terms) AS u (term)
        JOIN logged l ON l.term = u.term
        WHERE EXISTS (SELECT FROM ranges r WHERE r.id = t.id AND r.thread_id = l.thread_id AND l.seq BETWEEN r.from_seq AND r.to_seq)
        GROUP BY t.id, l.thread_id, l.seq
    )
    SELECT t.id FROM told t
    LEFT JOIN tells s ON s.id = t.id
    LEFT JOIN gone g ON g.thread_id = s.thread_id AND g.seq = s.seq
    GROUP BY t.id
    HAVING max(s.much) FILTER (WHERE g.seq IS NULL) IS NULL
        OR max(s.much) FILTER (WHERE g.seq IS NULL) < max(s.much) FILTER (WHERE g.seq IS NOT NULL);
END
$fn$;
COMMENT ON FUNCTION hippocampus._drawn_from_events IS 'Facts and memories that were drawn from some events, and that no other event of their sources tells as well.';
REVOKE ALL ON FUNCTION hippocampus._drawn_from_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._drawn_from_events
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
