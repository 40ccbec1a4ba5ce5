-- The terms of a row, with how often each stands in it, as the index of words has them.
CREATE OR REPLACE FUNCTION hippocampus._terms_of(
    p_user_id text,
    p_app_name text,
    p_source text,
    p_row_id uuid
) RETURNS TABLE (term text, tf smallint)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 20
BEGIN ATOMIC
    SELECT u.term, u.tf
    FROM (SELECT r.terms, r.counts FROM hippocampus.row_terms r
          WHERE r.row_id = p_row_id AND r.user_id = p_user_id AND r.app_name = p_app_name AND r.source = p_source
          ORDER BY r.id DESC LIMIT 1) l
    CROSS JOIN LATERAL unnest(l.terms, l.counts) AS u (term, tf);
END;
COMMENT ON FUNCTION hippocampus._terms_of IS 'The terms of a row, with how often each stands in it.';
REVOKE ALL ON FUNCTION hippocampus._terms_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._terms_of
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
