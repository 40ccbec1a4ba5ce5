-- What was drawn from events that are forgotten by themselves (p_ids), or with an episode that slices them: of the facts
-- and memories that have one of them among their sources, those of which no other event there tells as much, by their
-- words. What was drawn from them alone has no other; a fact that the user told twice stays, as long as one of the two does.
CREATE OR REPLACE FUNCTION hippocampus._drawn_from_events(
    p_user_id text,
    p_app_name text,
    p_ids uuid[]
) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 20
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RETURN QUERY
    WITH gone AS MATERIALIZED (
        SELECT e.thread_id, e.sequence_num AS seq, h.number * 16777216 + e.sequence_num AS place
        FROM hippocampus.events e
        JOIN hippocampus.threads h ON h.id = e.thread_id AND h.user_id = p_user_id AND h.app_name = p_app_name
        WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND e.id IN (
            SELECT unnest(p_ids)
            UNION ALL SELECT n.id FROM hippocampus.memories m
            JOIN hippocampus.events n ON n.thread_id = m.thread_id AND n.sequence_num BETWEEN m.from_seq AND m.to_seq
                AND n.user_id = p_user_id AND n.app_name = p_app_name
            WHERE m.id = ANY (p_ids) AND m.memory_type = 'episodic' AND m.user_id = p_user_id AND m.app_name = p_app_name)
    ), drawn AS MATERIALIZED (
        SELECT DISTINCT s.memory_id, s.fact_id FROM gone g
        JOIN hippocampus.memory_sources s ON s.thread_id = g.thread_id AND g.seq BETWEEN s.from_seq AND s.to_seq
            AND s.user_id = p_user_id AND s.app_name = p_app_name
    ), told AS MATERIALIZED (
        SELECT m.id, left(m.content, 4000) AS text FROM drawn d
        JOIN hippocampus.memories m ON m.id = d.memory_id AND m.user_id = p_user_id AND m.app_name = p_app_name
        UNION ALL SELECT f.id, left(f.value #>> '{}', 4000) FROM drawn d
        JOIN hippocampus.facts f ON f.id = d.fact_id AND f.user_id = p_user_id AND f.app_name = p_app_name
    ), ranges AS MATERIALIZED (
        SELECT coalesce(s.memory_id, s.fact_id) AS id, h.number * 16777216 + s.from_seq AS first, h.number * 16777216 + s.to_seq AS last
        FROM told t
        JOIN hippocampus.memory_sources s ON t.id IN (s.memory_id, s.fact_id) AND s.user_id = p_user_id AND s.app_name = p_app_name
        JOIN hippocampus.threads h ON h.id = s.thread_id AND h.user_id = p_user_id AND h.app_name = p_app_name
    ), best AS (
        SELECT t.id, max(c.cover) FILTER (WHERE g.place IS NOT NULL) AS gone, max(c.cover) FILTER (WHERE g.place IS NULL) AS kept
        FROM told t
        LEFT JOIN LATERAL (
            SELECT w.place, w.cover FROM hippocampus._words_cover(p_user_id, p_app_name, 'event', t.text, 0) w
            WHERE EXISTS (SELECT FROM ranges r WHERE r.id = t.id AND w.place BETWEEN r.first AND r.last)) c ON true
        LEFT JOIN gone g ON g.place = c.place
        GROUP BY t.id
    )
    SELECT b.id FROM best b WHERE b.kept IS NULL OR b.kept < b.gone;
END
$fn$;
COMMENT ON FUNCTION hippocampus._drawn_from_events IS 'Facts and memories that were drawn from some events, and that no other event of their sources tells as well.';
REVOKE ALL ON FUNCTION hippocampus._drawn_from_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._drawn_from_events
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
