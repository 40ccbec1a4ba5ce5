-- What the words of a query tell about a tenant's rows, from the index of words alone. A turn of a conversation is a
-- poor document: an answer does not repeat its question, and the topic of a talk is named once. So a row has
-- the evidence of its own words, of its neighbours in the log, and of its whole conversation:
--   own      BM25 (k1 = 1.2, b = 0.4; short texts want little length normalisation)
--   nearby   the same term by term, the best of own and of what two neighbours share on each
--            side (the turn after one that only asks has p_answer of what the question has)
--   session  BM25 of the conversation, by how many of its rows hold a term (k1 = 1.2, b = 0.75)
-- nearby and session are null for rows that stand at no one place. Only the 200 best rows share with their
-- neighbours. A row that holds no term itself comes in by its neighbours. p_pool bounds the rows (null: all
-- that were found), p_thread_number takes those of one conversation.
--
-- The cost does not grow with the tenant: the rarest terms find rows (see _term_weights), the latest 1,000 each at most;
-- the others only add to the score of what was found. Without a pool (p_pool null), and in one conversation, every row
-- that holds a term is found: a filter may want just those that are left out otherwise.
--
-- One plan serves all calls: planning anew would take longer than what a small tenant's search takes.
CREATE OR REPLACE FUNCTION hippocampus._evidence(
    p_user_id text,
    p_app_name text,
    p_source text,
    p_terms text[],
    p_pool integer,
    p_thread_number bigint DEFAULT NULL,
    p_answer double precision DEFAULT 1
) RETURNS TABLE (row_id uuid, place bigint, own double precision, nearby double precision, session double precision)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 200
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_memoize = off -- of blocks that are read once
SET enable_nestloop = off -- but for what is looked up: a general plan takes all that was found for a few rows
SET jit = off -- for the price of such loops
AS $fn$
DECLARE
    v_all boolean := p_pool IS NULL OR p_thread_number IS NOT NULL;
    v_rows double precision;
    v_mean double precision;
    v_talks double precision;
    v_turns double precision;
    v_finders text[];
    v_finder_idf double precision[];
    v_read double precision[]; -- which share of a finder's postings is read
    v_others text[];
    v_other_idf double precision[];
BEGIN
    SELECT i.rows, i.mean INTO v_rows, v_mean FROM hippocampus._indexed_rows(p_user_id, p_app_name, p_source) i;
    SELECT t.talks, t.turns INTO v_talks, v_turns FROM hippocampus._talks(p_user_id, p_app_name, v_rows) t;
    SELECT array_agg(w.term) FILTER (WHERE w.finds), array_agg(w.idf) FILTER (WHERE w.finds),
        array_agg(w.read) FILTER (WHERE w.finds),
        array_agg(w.term) FILTER (WHERE NOT w.finds), array_agg(w.idf) FILTER (WHERE NOT w.finds)
    INTO v_finders, v_finder_idf, v_read, v_others, v_other_idf
    FROM (SELECT t.* FROM hippocampus._term_weights(p_user_id, p_app_name, p_source, p_terms, v_rows, v_all) t
          ORDER BY t.df, t.term) w;
    RETURN QUERY
    WITH hits AS MATERIALIZED (
        SELECT t.n AS term, t.number, t.place, v_finder_idf[t.n] * t.tf * 2.2 / (t.tf + 1.2 * (0.6 + 0.4 * (t.length / v_mean))) AS weight
        FROM hippocampus._term_hits(p_user_id, p_app_name, p_source, v_finders,
            CASE WHEN NOT v_all THEN 17 END) t
        WHERE p_thread_number IS NULL OR t.place / 16777216 = p_thread_number
    ), found AS MATERIALIZED (
        SELECT f.*, row_number() OVER () <= 200 AS lends -- in the order of f
        FROM (SELECT h.number, h.place, sum(h.weight) AS weight FROM hits h GROUP BY h.number, h.place
              ORDER BY weight DESC, h.number < 0 DESC, abs(h.number) DESC LIMIT p_pool) f -- of equals the latest
    ), rows AS MATERIALIZED (
        SELECT f.number, f.place, f.lends, s.row_id, f.lends AND s.asks AS asks, s.length,
            CASE WHEN cardinality(v_others) > 0 THEN s.terms END AS terms, s.counts
        FROM found f
        CROSS JOIN LATERAL hippocampus._term_row(p_user_id, p_app_name, p_source, f.number) s
    ), told AS MATERIALIZED (
        SELECT r.row_id, r.place, r.lends, r.asks, h.term, h.weight FROM hits h JOIN rows r ON r.number = h.number
        UNION ALL
        SELECT r.row_id, r.place, r.lends, r.asks, -o.n, o.idf * c.tf * 2.2 / (c.tf + 1.2 * (0.6 + 0.4 * (r.length / v_mean)))
        FROM rows r
        CROSS JOIN unnest(v_others, v_other_idf) WITH ORDINALITY AS o (term, idf, n)
        CROSS JOIN LATERAL (SELECT r.counts[array_position(r.terms, o.term)] AS tf) c
        WHERE c.tf IS NOT NULL
    ), alone AS ( -- of several at one place, each is behind the best by what its own words lack
        SELECT t.row_id, t.place, sum(t.weight) AS own, max(sum(t.weight)) OVER (PARTITION BY t.place) - sum(t.weight) AS behind
        FROM told t GROUP BY t.row_id, t.place
    ), near AS (
        SELECT s.place, sum(s.weight) AS nearby
        FROM (SELECT t.place + d.step AS place, max(t.weight * CASE WHEN d.step = 1 AND t.asks THEN greatest(p_answer, d.share) ELSE d.share END) AS weight
              FROM told t
              CROSS JOIN (VALUES (-2, 0.3::float8), (-1, 0.5), (0, 1.0), (1, 0.6), (2, 0.4)) AS d (step, share)
              WHERE t.place IS NOT NULL AND (d.step = 0 OR t.lends)
              GROUP BY t.term, 1) s
        GROUP BY s.place
    ), heard AS MATERIALIZED (
        SELECT h.place / 16777216 AS number, h.term, count(*) AS rows FROM hits h WHERE h.place IS NOT NULL GROUP BY 1, 2
    ), rarity AS ( -- for a talk, a term weighs by how many talks hold it
        SELECT c.term, ln(1 + greatest(0, v_talks - c.df + 0.5) / (c.df + 0.5)) AS idf
        FROM (SELECT h.term, count(*) / v_read[h.term] AS df FROM heard h GROUP BY h.term) c
    ), lengths AS ( -- of the talks in which something was found
        SELECT t.number, t.next_seq - 1 AS turns FROM (SELECT DISTINCT f.place / 16777216 AS number FROM found f) n
        CROSS JOIN LATERAL (SELECT h.number, h.next_seq FROM hippocampus.threads h
            WHERE h.number = n.number AND h.user_id = p_user_id AND h.app_name = p_app_name LIMIT 1) t
    ), talks AS (
        SELECT w.number, l.turns, sum(r.idf * w.rows * 2.2 / (w.rows + 1.2 * (0.25 + 0.75 * (l.turns / v_turns)))) AS session
        FROM lengths l
        JOIN heard w ON w.number = l.number
        JOIN rarity r ON r.term = w.term
        GROUP BY w.number, l.turns
    )
    SELECT p.row_id, p.place, p.own, p.nearby, t.session
    FROM (SELECT a.row_id, coalesce(a.place, n.place) AS place, coalesce(a.own, 0) AS own, n.nearby - coalesce(a.behind, 0) AS nearby
          FROM alone a FULL JOIN near n ON n.place = a.place) p
    LEFT JOIN talks t ON t.number = p.place / 16777216
    -- before the first turn and after the last is none; which is the last of a log that is not here, nobody knows
    WHERE p.row_id IS NOT NULL OR p.place % 16777216 BETWEEN 1 AND CASE t.turns WHEN 0 THEN 16777215 ELSE t.turns END;
END
$fn$;
COMMENT ON FUNCTION hippocampus._evidence IS
    'What the words of a query tell about a tenant''s rows: their own, their neighbours'' and their conversation''s. row_id is null for a row that comes in by its neighbours.';
REVOKE ALL ON FUNCTION hippocampus._evidence FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._evidence
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
