-- The terms that a query looks up: those of its text, and for a single character of an unspaced script the
-- pairs that begin with it, since postings hold pairs. Of a text with more than 256 terms, those that stand
-- in it most often; among equals by hash, so that no alphabet comes before another.
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
    v_single text[];
    v_end text[];
BEGIN
    SELECT coalesce(array_agg(t.term ORDER BY t.term COLLATE "C"), '{}') INTO v_terms FROM (
        SELECT x.term FROM hippocampus._text_terms(left(p_query, 20000),
            (hippocampus._setting(p_app_name, 'text_search_config') #>> '{}')::regconfig) x
        ORDER BY x.tf DESC, hashtextextended(x.term, 0), x.term LIMIT 256) t;
    -- the end of a longer run stands alone too, but its pair has been asked for already
    SELECT array_agg(s.term), array_agg(s.term || U&'\+10FFFF') INTO v_single, v_end FROM unnest(v_terms) AS s (term)
    WHERE char_length(s.term) = 1 AND octet_length(s.term) > 2
      AND NOT EXISTS (SELECT FROM unnest(v_terms) AS o (term) WHERE char_length(o.term) = 2 AND right(o.term, 1) = s.term);
    IF v_single IS NULL THEN
        RETURN v_terms;
    END IF;
    -- bounds that are values already: under a policy, || would keep them out of the index
    RETURN v_terms || ARRAY(
        SELECT DISTINCT p.term FROM unnest(v_single, v_end) AS s (term, upto)
        CROSS JOIN LATERAL (
            SELECT i.term FROM hippocampus.postings i
            WHERE i.user_id = p_user_id AND i.app_name = p_app_name AND i.source = p_source
              AND i.term > s.term AND i.term < s.upto AND char_length(i.term) = 2) p
        ORDER BY p.term);
END
$fn$;
COMMENT ON FUNCTION hippocampus._query_terms IS
    'The terms that a query looks up in postings: at most 256 of its own, and the pairs that its single characters begin.';
REVOKE ALL ON FUNCTION hippocampus._query_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._query_terms
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
