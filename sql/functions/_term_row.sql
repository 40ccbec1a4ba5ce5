-- The terms of a row that is known by its number, as _term_hits gives it. For use in FROM, as _memory_row is.
CREATE OR REPLACE FUNCTION hippocampus._term_row(
    p_user_id text,
    p_app_name text,
    p_source text,
    p_number bigint
) RETURNS SETOF hippocampus.row_terms
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
BEGIN ATOMIC
    SELECT r.* FROM hippocampus.row_terms r
    WHERE r.user_id = p_user_id AND r.app_name = p_app_name AND r.source = p_source AND r.number = p_number LIMIT 1;
END;
COMMENT ON FUNCTION hippocampus._term_row IS 'The terms of a row by its number.';
REVOKE ALL ON FUNCTION hippocampus._term_row FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._term_row
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
