-- Where terms stand in a user's rows: which of p_terms, in which row (by row_terms.number), at which place, how often,
-- and how long the row is. The latest p_blocks blocks of a term are read, of up to 64 rows each (null: all), and the
-- rows that are not folded yet. Without rows that are noted as gone.
CREATE OR REPLACE FUNCTION hippocampus._term_hits(
    p_user_id text,
    p_app_name text,
    p_source text,
    p_terms text[],
    p_blocks bigint DEFAULT NULL
) RETURNS TABLE (n bigint, number bigint, place bigint, tf smallint, length smallint)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1000
BEGIN ATOMIC
    SELECT h.n, h.number, h.place, h.tf, h.length
    FROM (
        SELECT q.n, e.number, e.place, e.tf, e.length
        FROM unnest(p_terms) WITH ORDINALITY AS q (term, n)
        CROSS JOIN LATERAL ( -- one after the other: as a function in FROM, a block would be stored away first
            SELECT unnest(b.numbers) AS number, unnest(b.places) AS place, unnest(b.counts) AS tf, unnest(b.lengths) AS length
            FROM (SELECT p.numbers, p.places, p.counts, p.lengths FROM hippocampus.postings p
                  WHERE p.user_id = p_user_id AND p.app_name = p_app_name AND p.source = p_source AND p.term = q.term
                  ORDER BY p.block DESC LIMIT p_blocks) b) e
        UNION ALL
        SELECT array_position(p_terms, u.term), r.number, r.place, u.tf, r.length
        FROM hippocampus.row_terms r
        CROSS JOIN LATERAL unnest(r.terms, r.counts) AS u (term, tf)
        WHERE r.user_id = p_user_id AND r.app_name = p_app_name AND r.source = p_source AND r.number < 0
          AND r.terms && p_terms AND u.term = ANY (p_terms)
    ) h
    WHERE (h.number IN (
        SELECT g.number FROM hippocampus.unindexed_rows o
        CROSS JOIN LATERAL (SELECT r.number FROM hippocampus.row_terms r
            WHERE r.row_id = o.row_id AND r.id = o.id AND r.user_id = p_user_id AND r.app_name = p_app_name LIMIT 1) g
        WHERE o.user_id = p_user_id AND o.app_name = p_app_name)) IS NOT TRUE;
END;
COMMENT ON FUNCTION hippocampus._term_hits IS 'In which of a user''s rows terms stand, and how often.';
REVOKE ALL ON FUNCTION hippocampus._term_hits FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._term_hits
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
