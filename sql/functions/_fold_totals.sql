-- Sums up the totals of a user's source of words into one row, of those that nobody holds; within the table's check,
-- whatever a bound login wrote of itself. Returns 1, or 0 where there is nothing to sum up. For READ COMMITTED: see
-- _index_rows.
CREATE OR REPLACE FUNCTION hippocampus._fold_totals(
    p_user_id text,
    p_app_name text,
    p_source text
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_folded integer;
BEGIN
    WITH held AS MATERIALIZED (
        SELECT t.id FROM hippocampus.posting_totals t
        WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.source = p_source
        FOR UPDATE SKIP LOCKED
    ), folded AS (
        DELETE FROM hippocampus.posting_totals t USING held h
        WHERE t.id = h.id AND t.user_id = p_user_id AND t.app_name = p_app_name AND t.source = p_source
        RETURNING t.rows, t.terms
    )
    INSERT INTO hippocampus.posting_totals (rows, terms, user_id, app_name, source)
    SELECT greatest(-10000000000, least(10000000000, sum(f.rows))), greatest(-10000000000000, least(10000000000000, sum(f.terms))),
        p_user_id, p_app_name, p_source
    FROM folded f HAVING count(*) > 0;
    GET DIAGNOSTICS v_folded = ROW_COUNT;
    RETURN v_folded;
END
$fn$;
COMMENT ON FUNCTION hippocampus._fold_totals IS 'Sums up the totals of a user''s source of words into one row.';
REVOKE ALL ON FUNCTION hippocampus._fold_totals FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._fold_totals TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
