-- What each term of a query weighs in a tenant's rows (BM25's idf), and which terms find rows: the rarest, as
-- many as stand in 2,000 rows together (two at least). Terms that stand nowhere are left out. How many rows a term is in
-- follows from how many blocks it has and how full the latest 8 are; beyond 256 blocks, from which share of the term's
-- row numbers these span. So the cost does not grow with the tenant. read is which share of a term's rows stands in its
-- latest 17 blocks, 1,024 rows and more. Where all rows are wanted (p_all), every term finds, and all of it is read.
CREATE OR REPLACE FUNCTION hippocampus._term_weights(
    p_user_id text,
    p_app_name text,
    p_source text,
    p_terms text[],
    p_rows double precision,
    p_all boolean
) RETURNS TABLE (term text, df double precision, idf double precision, finds boolean, read double precision)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 8
BEGIN ATOMIC
    WITH fresh AS MATERIALIZED (
        SELECT u.term, count(*) AS rows FROM hippocampus.row_terms r
        CROSS JOIN LATERAL unnest(r.terms) AS u (term)
        WHERE r.user_id = p_user_id AND r.app_name = p_app_name AND r.source = p_source AND r.number < 0
          AND r.terms && p_terms AND u.term = ANY (p_terms)
        GROUP BY u.term
    ), counted AS (
        SELECT q.term, least(p_rows, coalesce(f.rows, 0) + coalesce(CASE WHEN c.blocks < 8 THEN c.rows
                ELSE c.rows / 8.0 * m.blocks * coalesce((m.last - a.block)::double precision / nullif(m.last - m.first, 0), 1) END, 0)) AS df,
            CASE WHEN p_all OR m.blocks <= 17 THEN 1 ELSE 17.0 / m.blocks END AS read
        FROM unnest(p_terms) AS q (term)
        CROSS JOIN LATERAL (
            SELECT count(*) AS blocks, sum(cardinality(l.numbers)) AS rows FROM (
                SELECT p.numbers FROM hippocampus.postings p
                WHERE p.user_id = p_user_id AND p.app_name = p_app_name AND p.source = p_source AND p.term = q.term
                ORDER BY p.block DESC LIMIT 8) l
        ) c
        CROSS JOIN LATERAL (
            SELECT count(*) AS blocks, min(l.block) AS first, max(l.block) AS last
            FROM (SELECT p.block FROM hippocampus.postings p
                  WHERE c.blocks = 8 AND p.user_id = p_user_id AND p.app_name = p_app_name AND p.source = p_source AND p.term = q.term
                  ORDER BY p.block DESC LIMIT 256) l
        ) m
        LEFT JOIN LATERAL (
            SELECT p.block FROM hippocampus.postings p
            WHERE m.blocks = 256 AND p.user_id = p_user_id AND p.app_name = p_app_name AND p.source = p_source AND p.term = q.term
            ORDER BY p.block LIMIT 1
        ) a ON true
        LEFT JOIN fresh f ON f.term = q.term
    )
    SELECT c.term, c.df, ln(1 + greatest(0, p_rows - c.df + 0.5) / (c.df + 0.5)),
        p_all OR row_number() OVER w <= 2 OR sum(c.df) OVER w <= 2000, c.read
    FROM counted c
    WHERE c.df > 0
    WINDOW w AS (ORDER BY c.df, c.term);
END;
COMMENT ON FUNCTION hippocampus._term_weights IS
    'What each term of a query weighs among a tenant''s rows, and which terms find rows.';
REVOKE ALL ON FUNCTION hippocampus._term_weights FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._term_weights
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
