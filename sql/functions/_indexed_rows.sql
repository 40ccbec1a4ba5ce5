-- How many rows of a source a user has in the index of words, and how many terms a row has in the mean; 1 at least,
-- for BM25 divides by them. What is not folded yet counts too.
CREATE OR REPLACE FUNCTION hippocampus._indexed_rows(
    p_user_id text,
    p_app_name text,
    p_source text
) RETURNS TABLE (rows double precision, mean double precision)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
BEGIN ATOMIC
    SELECT greatest(1, sum(a.rows)::double precision), greatest(1, sum(a.terms)::double precision / nullif(sum(a.rows), 0))
    FROM (SELECT t.rows, t.terms FROM hippocampus.posting_totals t
          WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.source = p_source
          UNION ALL SELECT count(*), sum(r.length) FROM hippocampus.row_terms r
          WHERE r.user_id = p_user_id AND r.app_name = p_app_name AND r.source = p_source AND r.number < 0) a;
END;
COMMENT ON FUNCTION hippocampus._indexed_rows IS 'How many rows of a source a user has in the index of words, and how many terms they have in the mean.';
REVOKE ALL ON FUNCTION hippocampus._indexed_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._indexed_rows
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
