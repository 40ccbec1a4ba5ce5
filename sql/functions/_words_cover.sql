-- Rows of a source that hold the words of a text: the share of its words that stand in them, each weighed by
-- how rare it is among the user's rows. A word that no row has counts for nothing. Terms beyond 64, and rows
-- that hold a term which more than 5,000 rows have and no rarer one, are passed over.
CREATE OR REPLACE FUNCTION hippocampus._words_cover(
    p_user_id text,
    p_app_name text,
    p_source text,
    p_text text,
    p_min double precision
) RETURNS TABLE (row_id uuid, place bigint, cover double precision)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 20
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_rows double precision := (SELECT greatest(1, sum(t.rows)) FROM hippocampus.posting_totals t
        WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.source = p_source);
BEGIN
    RETURN QUERY
    WITH counted AS MATERIALIZED (
        SELECT q.term, c.df, ln(1 + greatest(0, v_rows - c.df + 0.5) / (c.df + 0.5)) AS idf
        FROM (SELECT u.term FROM unnest(hippocampus._query_terms(p_app_name, p_text)) u (term) LIMIT 64) q
        CROSS JOIN LATERAL (SELECT count(*) AS df FROM (
            SELECT FROM hippocampus.postings s
            WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.source = p_source AND s.term = q.term LIMIT 5001) l) c
        WHERE c.df > 0
    ), held AS (
        SELECT s.row_id, s.place, c.idf FROM counted c
        JOIN hippocampus.postings s ON s.user_id = p_user_id AND s.app_name = p_app_name AND s.source = p_source AND s.term = c.term
        WHERE c.df <= 5000
    )
    SELECT h.row_id, h.place, sum(h.idf) / (SELECT sum(c.idf) FROM counted c) FROM held h
    GROUP BY h.row_id, h.place
    HAVING sum(h.idf) >= p_min * (SELECT sum(c.idf) FROM counted c);
END
$fn$;
COMMENT ON FUNCTION hippocampus._words_cover IS 'Rows that hold at least the share p_min of a text''s words, weighed by rarity.';
REVOKE ALL ON FUNCTION hippocampus._words_cover FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._words_cover
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
