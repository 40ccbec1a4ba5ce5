-- BM25 over a tenant's own rows (k1 = 1.2, b = 0.75; Robertson and Zaragoza 2009), from postings alone: one
-- index-only range scan a term. The document frequency is the length of that range; the number of rows and
-- their mean length come from posting_totals.
CREATE OR REPLACE FUNCTION hippocampus._text_hits(
    p_user_id text,
    p_app_name text,
    p_source text,
    p_query text
) RETURNS TABLE (row_id uuid, bm25 double precision)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 200
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_terms text[] := hippocampus._query_terms(p_user_id, p_app_name, p_source, p_query);
    v_rows double precision;
    v_mean double precision;
BEGIN
    SELECT greatest(1, sum(t.rows)), greatest(1, sum(t.terms)::double precision / nullif(sum(t.rows), 0))
    INTO v_rows, v_mean
    FROM hippocampus.posting_totals t
    WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.source = p_source;
    RETURN QUERY
    SELECT h.row_id, sum(ln(1 + greatest(0, v_rows - h.df + 0.5) / (h.df + 0.5))
        * h.tf * 2.2 / (h.tf + 1.2 * (0.25 + 0.75 * h.length / v_mean)))
    FROM (
        SELECT p.row_id, p.tf, p.length, count(*) OVER (PARTITION BY q.term) AS df
        FROM unnest(v_terms) AS q (term)
        CROSS JOIN LATERAL (
            SELECT s.row_id, s.tf, s.length FROM hippocampus.postings s
            WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.source = p_source AND s.term = q.term
            OFFSET 0 -- a look-up a term, never a join with all of the tenant's postings
        ) p
    ) h
    GROUP BY h.row_id;
END
$fn$;
COMMENT ON FUNCTION hippocampus._text_hits IS 'The rows of a source that hold a term of the query, with their BM25.';
REVOKE ALL ON FUNCTION hippocampus._text_hits FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._text_hits
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
