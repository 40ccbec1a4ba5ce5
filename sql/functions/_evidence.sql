-- What the words of a query tell about a tenant's rows, from postings alone. A turn of a conversation is a
-- poor document: an answer does not repeat its question, and the topic of a talk is named once. So a row has
-- the evidence of its own words, of its neighbours in the log, and of its whole conversation:
--   own      BM25 (k1 = 1.2, b = 0.4; short texts want little length normalisation)
--   nearby   the same term by term, the best of own and of what two neighbours on each side share
--   session  BM25 of the conversation, by how many of its rows hold a term (k1 = 1.2, b = 0.75)
-- nearby and session are null for rows that stand at no one place. Only the 200 best rows share with their
-- neighbours. A row that holds no term itself comes in by its neighbours. p_pool bounds the rows (null: all
-- that were found), p_thread_number takes those of one conversation.
--
-- The cost does not grow with the tenant: rows are found by the query's rarest terms, as many as have 4,000
-- postings together (two at least, of 2,000 postings each at most); the others only add to the score of
-- what was found. A document frequency over 2,000 is estimated from the place of the 2,000th row_id, since
-- ids are random. Without a pool (p_pool null) every row that holds a term is found, as a filter may want just
-- those that are left out otherwise.
CREATE OR REPLACE FUNCTION hippocampus._evidence(
    p_user_id text,
    p_app_name text,
    p_source text,
    p_terms text[],
    p_pool integer,
    p_thread_number bigint DEFAULT NULL
) RETURNS TABLE (row_id uuid, place bigint, own double precision, nearby double precision, session double precision)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 200
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_cap integer := CASE WHEN p_pool IS NOT NULL THEN 2000 END;
    v_rows double precision;
    v_mean double precision;
    v_finders text[]; -- terms that find rows, rarest first
    v_finder_idf double precision[];
    v_others text[];
    v_other_idf double precision[];
BEGIN
    SELECT greatest(1, sum(t.rows)), greatest(1, sum(t.terms)::double precision / nullif(sum(t.rows), 0))
    INTO v_rows, v_mean
    FROM hippocampus.posting_totals t
    WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.source = p_source;
    WITH counted AS (
        SELECT q.term, c.postings,
            CASE WHEN v_cap IS NULL OR c.postings < v_cap THEN c.postings ELSE least(v_rows, v_cap / greatest(1e-6, (
                SELECT ('x' || left(s.row_id::text, 8))::bit(32)::bigint / 4294967296.0 FROM hippocampus.postings s
                WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.source = p_source AND s.term = q.term
                ORDER BY s.row_id OFFSET v_cap - 1 LIMIT 1))) END AS df
        FROM unnest(p_terms) AS q (term)
        CROSS JOIN LATERAL (
            SELECT count(*) AS postings FROM (
                SELECT FROM hippocampus.postings s
                WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.source = p_source AND s.term = q.term
                LIMIT v_cap) l
        ) c
        WHERE c.postings > 0
    ), weighed AS (
        SELECT c.term, ln(1 + greatest(0, v_rows - c.df + 0.5) / (c.df + 0.5)) AS idf,
            v_cap IS NULL OR row_number() OVER w <= 2 OR sum(c.postings) OVER w <= 4000 AS finds
        FROM counted c
        WINDOW w AS (ORDER BY c.df, c.term)
    )
    SELECT array_agg(w.term ORDER BY w.idf DESC, w.term) FILTER (WHERE w.finds), array_agg(w.idf ORDER BY w.idf DESC, w.term) FILTER (WHERE w.finds),
        array_agg(w.term ORDER BY w.term) FILTER (WHERE NOT w.finds), array_agg(w.idf ORDER BY w.term) FILTER (WHERE NOT w.finds)
    INTO v_finders, v_finder_idf, v_others, v_other_idf
    FROM weighed w;
    RETURN QUERY
    WITH hits AS MATERIALIZED (
        SELECT q.n AS term, p.row_id, p.place, q.idf * p.tf * 2.2 / (p.tf + 1.2 * (0.6 + 0.4 * p.length / v_mean)) AS weight
        FROM unnest(v_finders, v_finder_idf) WITH ORDINALITY AS q (term, idf, n)
        CROSS JOIN LATERAL (
            SELECT s.row_id, s.place, s.tf, s.length FROM hippocampus.postings s
            WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.source = p_source AND s.term = q.term
              AND (p_thread_number IS NULL OR s.place / 16777216 = p_thread_number)
            ORDER BY s.row_id LIMIT v_cap
        ) p
    ), best AS MATERIALIZED (
        SELECT r.row_id, r.place, r.own + coalesce((
            SELECT sum(o.idf * s.tf * 2.2 / (s.tf + 1.2 * (0.6 + 0.4 * s.length / v_mean)))
            FROM unnest(v_others, v_other_idf) AS o (term, idf)
            JOIN hippocampus.postings s ON s.user_id = p_user_id AND s.app_name = p_app_name AND s.source = p_source
                AND s.term = o.term AND s.row_id = r.row_id), 0) AS own
        FROM (
            SELECT h.row_id, h.place, sum(h.weight) AS own
            FROM hits h GROUP BY h.row_id, h.place
            ORDER BY own DESC, h.row_id LIMIT p_pool
        ) r
    ), shared AS (
        SELECT h.term, h.place + d.step AS place, max(h.weight * d.share) AS weight
        FROM (SELECT r.*, row_number() OVER (ORDER BY r.own DESC, r.row_id) AS rank FROM best r WHERE r.place IS NOT NULL) b
        JOIN hits h ON h.row_id = b.row_id
        CROSS JOIN (VALUES (-2, 0.3), (-1, 0.5), (0, 1.0), (1, 0.6), (2, 0.4)) AS d (step, share)
        WHERE d.step = 0 OR b.rank <= 200
        GROUP BY h.term, h.place + d.step
    ), near AS MATERIALIZED (
        SELECT s.place, sum(s.weight) AS nearby FROM shared s GROUP BY s.place
    ), held AS MATERIALIZED (
        -- for a talk, a term weighs by how many talks hold it; of more than 1,000 talks, 1,000 stand for all
        SELECT c.number, c.rows, ln(1 + greatest(0, a.talks - c.df + 0.5::double precision) / (c.df + 0.5)) AS idf, a.mean
        FROM (SELECT h.place / 16777216 AS number, count(*) AS rows, count(*) OVER (PARTITION BY h.term) AS df
              FROM hits h WHERE h.place IS NOT NULL GROUP BY h.place / 16777216, h.term) c
        CROSS JOIN (SELECT count(*) AS talks, avg(t.length)::double precision AS mean
                    FROM (SELECT t.next_seq - 1 AS length FROM hippocampus.threads t
                          WHERE t.user_id = p_user_id AND t.app_name = p_app_name LIMIT 1000) t) a
    ), talks AS (
        SELECT t.number, sum(c.idf * c.rows * 2.2 / (c.rows + 1.2 * (0.25 + 0.75 * (t.next_seq - 1) / c.mean))) AS session
        FROM (SELECT DISTINCT n.place / 16777216 AS number FROM near n) s
        JOIN held c ON c.number = s.number
        JOIN hippocampus.threads t ON t.number = c.number AND t.user_id = p_user_id AND t.app_name = p_app_name
        GROUP BY t.number
    )
    SELECT b.row_id, n.place, coalesce(b.own, 0), n.nearby, t.session
    FROM near n
    LEFT JOIN best b ON b.place = n.place
    LEFT JOIN talks t ON t.number = n.place / 16777216
    UNION ALL
    SELECT b.row_id, NULL, b.own, NULL, NULL FROM best b WHERE b.place IS NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._evidence IS
    'What the words of a query tell about a tenant''s rows: their own, their neighbours'' and their conversation''s. row_id is null for a row that comes in by its neighbours.';
REVOKE ALL ON FUNCTION hippocampus._evidence FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._evidence
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
