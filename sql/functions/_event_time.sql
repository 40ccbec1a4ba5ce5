-- The time of an event by which a question tells a time («before I moved», «结婚以后»), as the user's own memory tells it:
-- all before it, all from its day on, or three days on each side of it for when and while; and where it counts how far away
-- («three days before my wedding»), about that day.
--
-- A memory tells it that holds four fifths of its words, each counted (a word that no memory has is not told either), and at
-- least 60 % of them by rarity; of such, those near the best. A long text has words of many matters, and tells none; nor
-- does a question, nor what speaks of the time by the same words. On three days at most: what is told on more is a habit
-- or a topic, and names no time. When and while want days of one week.
--
-- The event began at valid_from of a fact of these words, or drawn from what tells it (of several the newest: the last move is
-- «the move»), if that was told and is not just when the fact was learned; or else at the time that a memory names («I
-- moved last month») or has, whichever is first. Null where nothing tells it.
CREATE OR REPLACE FUNCTION hippocampus._event_time(
    p_user_id text,
    p_app_name text,
    p_query text
) RETURNS tstzrange
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $fn$
DECLARE
    v_event text[] := hippocampus._event_clause(p_query);
    v_config regconfig;
    v_terms text[];
    v_dated timestamptz;
    v_began timestamptz;
    v_about interval; -- how much later it may have begun than that, halved
    v_first timestamptz; -- told
    v_last timestamptz;
    v_days bigint;
    v_away daterange;
BEGIN
    IF v_event IS NULL THEN
        RETURN NULL;
    END IF;
    v_config := hippocampus._text_config(p_app_name);
    v_terms := hippocampus._query_terms(p_app_name, v_event[2]);
    WITH telling AS MATERIALIZED (
        SELECT f.cover, m.content, m.occurred_from, m.thread_id, m.from_seq, m.to_seq, max(f.cover) OVER () AS best
        FROM (SELECT w.row_id, w.cover FROM hippocampus._words_cover(p_user_id, p_app_name, 'memory', v_event[2], 0.6) w
              ORDER BY w.cover DESC, w.row_id LIMIT 50) f
        CROSS JOIN LATERAL hippocampus._memory_row(p_user_id, p_app_name, f.row_id) m
        WHERE octet_length(m.content) <= 1500 AND m.memory_type <> 'summary' AND m.superseded_by IS NULL AND NOT hippocampus._only_asks(m.content)
          AND (hippocampus._event_clause(m.content))[1:2] IS DISTINCT FROM v_event[1:2]
          AND (SELECT count(*) FROM hippocampus._text_terms(m.content, v_config) t WHERE t.term = ANY (v_terms)) >= 0.8 * cardinality(v_terms)
    ), told AS MATERIALIZED (
        SELECT t.* FROM telling t WHERE t.cover >= 0.9 * t.best
    ), facts AS ( -- with how many of the event's words each must hold
        SELECT w.row_id, 0.8 * cardinality(v_terms) AS words FROM hippocampus._words_cover(p_user_id, p_app_name, 'fact', v_event[2], 0.6) w
        UNION ALL
        SELECT s.fact_id, 1 FROM told t
        JOIN hippocampus.memory_sources s ON s.thread_id = t.thread_id AND s.from_seq BETWEEN t.from_seq AND t.to_seq AND s.to_seq <= t.to_seq
            AND s.user_id = p_user_id AND s.app_name = p_app_name AND s.fact_id IS NOT NULL
    ), dated AS (
        SELECT max(f.valid_from) AS at FROM facts x
        CROSS JOIN LATERAL (
            SELECT * FROM hippocampus.facts r WHERE r.id = x.row_id AND r.user_id = p_user_id AND r.app_name = p_app_name LIMIT 1) f
        WHERE f.valid_from <> f.recorded_at AND (f.valid_until IS NULL OR f.valid_until > f.valid_from)
          AND (SELECT count(*) FROM hippocampus._text_terms(hippocampus._fact_text(f.key, f.value), v_config) t WHERE t.term = ANY (v_terms)) >= x.words
    )
    SELECT (SELECT d.at FROM dated d), min(coalesce(lower(n.at), t.occurred_from)), coalesce(max(upper(n.at) - lower(n.at)) / 2, '0'),
        min(t.occurred_from), max(t.occurred_from), count(DISTINCT (t.occurred_from AT TIME ZONE 'UTC')::date)
    INTO v_dated, v_began, v_about, v_first, v_last, v_days
    FROM told t CROSS JOIN LATERAL (SELECT hippocampus.resolve_time(t.content, t.occurred_from) AS at) n;
    IF v_dated IS NOT NULL THEN
        v_began := v_dated; v_about := '0'; v_first := v_dated; v_last := v_dated;
    ELSIF v_days NOT BETWEEN 1 AND 3 OR v_event[1] = 'around' AND v_last - v_first > interval '7 days' THEN
        RETURN NULL;
    END IF;
    IF cardinality(v_event) = 4 THEN
        v_away := hippocampus._time_away(((v_began + v_about) AT TIME ZONE 'UTC')::date, v_event[3]::integer, v_event[4]);
        v_about := greatest(v_about, '1 day'); -- people tell it a day before or after, too
        RETURN tstzrange(lower(v_away)::timestamp AT TIME ZONE 'UTC' - v_about, upper(v_away)::timestamp AT TIME ZONE 'UTC' + v_about);
    END IF;
    RETURN CASE v_event[1] WHEN 'before' THEN tstzrange(NULL, v_began) WHEN 'after' THEN tstzrange(date_trunc('day', v_began, 'UTC'), NULL)
        -- a memory that names a time long past («last year») is of when it was told, as is what else was told of it
        ELSE tstzrange(CASE WHEN v_first - v_began <= interval '10 days' THEN v_began ELSE v_first END - interval '3 days', v_last + interval '3 days', '[]') END;
END
$fn$;
COMMENT ON FUNCTION hippocampus._event_time IS
    'The time that a question tells by an event («before I moved»), as the user''s own memories and facts date it; null where it tells none, or they do not.';
REVOKE ALL ON FUNCTION hippocampus._event_time FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._event_time
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
