-- What each term of a query weighs in a tenant's rows (BM25's idf), and which terms find rows: the rarest, as
-- many as have 2,000 postings together (two at least). Terms without a posting are left out. A document
-- frequency over 256 is estimated from the place of the 256th row_id, since ids are random: within 6 %, which
-- changes an idf by 0.06. So the cost does not grow with the tenant. Where all rows are wanted (p_all), every
-- term finds.
CREATE OR REPLACE FUNCTION hippocampus._term_weights(
    p_user_id text,
    p_app_name text,
    p_source text,
    p_terms text[],
    p_rows double precision,
    p_all boolean
) RETURNS TABLE (term text, df double precision, idf double precision, finds boolean)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 8
BEGIN ATOMIC
    WITH counted AS (
        SELECT q.term, CASE WHEN c.seen < 256 THEN c.seen ELSE greatest(256, least(p_rows,
            256 / greatest(1e-6, ('x' || left(c.last::text, 8))::bit(32)::bigint / 4294967296.0::double precision))) END AS df
        FROM unnest(p_terms) AS q (term)
        CROSS JOIN LATERAL (
            SELECT count(*) AS seen, (array_agg(l.row_id))[256] AS last FROM (
                SELECT s.row_id FROM hippocampus.postings s
                WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.source = p_source AND s.term = q.term
                ORDER BY s.row_id LIMIT 256) l
        ) c
        WHERE c.seen > 0
    )
    SELECT c.term, c.df, ln(1 + greatest(0, p_rows - c.df + 0.5) / (c.df + 0.5)),
        p_all OR row_number() OVER w <= 2 OR sum(c.df) OVER w <= 2000
    FROM counted c
    WINDOW w AS (ORDER BY c.df, c.term);
END;
COMMENT ON FUNCTION hippocampus._term_weights IS
    'What each term of a query weighs among a tenant''s rows, and which terms find rows.';
REVOKE ALL ON FUNCTION hippocampus._term_weights FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._term_weights
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
