-- The terms that a query looks up: those of its text. Of a text with more than 256 terms, those that stand in
-- it most often; among equals by hash, so that no alphabet comes before another.
CREATE OR REPLACE FUNCTION hippocampus._query_terms(
    p_app_name text,
    p_query text
) RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RETURN (SELECT coalesce(array_agg(t.term ORDER BY t.term COLLATE "C"), '{}') FROM (
        SELECT x.term FROM hippocampus._text_terms(left(coalesce(p_query, ''), 20000), hippocampus._text_config(p_app_name)) x
        ORDER BY x.tf DESC, hashtextextended(x.term, 0), x.term LIMIT 256) t);
END
$fn$;
COMMENT ON FUNCTION hippocampus._query_terms IS 'The terms that a query looks up in the index of words; at most 256.';
REVOKE ALL ON FUNCTION hippocampus._query_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._query_terms
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
