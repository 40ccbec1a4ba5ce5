-- The terms that a query looks up: those of its text. Of a text with more than 256 terms, those that stand in
-- it most often; among equals by hash, so that no alphabet comes before another. The words by which Chinese asks are
-- not looked up, as those of other languages are not, which dictionaries drop: in no answer they would weigh most. A
-- query of nothing else looks them up.
CREATE OR REPLACE FUNCTION hippocampus._query_terms(
    p_app_name text,
    p_query text
) RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    c_asks CONSTANT text := '请问|請問|[为為]?[什甚][么麼](?:[时時]候|地方)?|[为為如]何|何[时時处處地]|怎[么麼样樣](?:[样樣办辦])?'
        '|哪[里裡儿兒个個些边邊]?|[谁誰]|多[少久]|几时|幾時|[吗嗎呢]';
    c_query CONSTANT text := left(coalesce(p_query, ''), 20000);
    v_query text := regexp_replace(c_query, c_asks, ' ', 'g');
    v_terms text[];
BEGIN
    LOOP
        v_terms := ARRAY(SELECT t.term FROM (
            SELECT x.term FROM hippocampus._text_terms(v_query, hippocampus._text_config(p_app_name)) x
            ORDER BY x.tf DESC, hashtextextended(x.term, 0), x.term LIMIT 256) t ORDER BY t.term COLLATE "C");
        EXIT WHEN v_terms <> '{}' OR v_query = c_query;
        v_query := c_query;
    END LOOP;
    RETURN v_terms;
END
$fn$;
COMMENT ON FUNCTION hippocampus._query_terms IS 'The terms that a query looks up in the index of words; at most 256.';
REVOKE ALL ON FUNCTION hippocampus._query_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._query_terms
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
