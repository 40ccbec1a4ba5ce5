-- The terms that a query looks up: those of its text, and for a single character of an unspaced script the
-- pairs that begin with it, since postings hold pairs.
CREATE OR REPLACE FUNCTION hippocampus._query_terms(
    p_user_id text,
    p_app_name text,
    p_source text,
    p_query text
) RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_terms text[];
    v_single text;
BEGIN
    v_terms := ARRAY(
        SELECT DISTINCT t.term FROM hippocampus._text_terms(left(p_query, 20000),
            (hippocampus._setting(p_app_name, 'text_search_config') #>> '{}')::regconfig) t
        ORDER BY t.term LIMIT 256);
    IF cardinality(v_terms) = 1 AND char_length(v_terms[1]) = 1 AND octet_length(v_terms[1]) > 2 THEN
        v_single := v_terms[1];
        v_terms := v_terms || ARRAY(
            SELECT DISTINCT p.term FROM hippocampus.postings p
            WHERE p.user_id = p_user_id AND p.app_name = p_app_name AND p.source = p_source
              AND p.term > v_single COLLATE "C" AND p.term < (v_single || U&'\+10FFFF') COLLATE "C"
            LIMIT 256);
    END IF;
    RETURN v_terms;
END
$fn$;
COMMENT ON FUNCTION hippocampus._query_terms IS 'The terms that a query looks up in postings; at most 256.';
REVOKE ALL ON FUNCTION hippocampus._query_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._query_terms
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
