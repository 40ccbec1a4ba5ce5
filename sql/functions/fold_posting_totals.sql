-- Sums up the totals of those whose writers did not: they fold now and then, but not in REPEATABLE READ. Rows that
-- somebody holds are left for the next time. Call it in READ COMMITTED, or it may end in a serialization failure.
CREATE OR REPLACE FUNCTION hippocampus.fold_posting_totals(
    p_limit integer DEFAULT 1000
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_folded integer;
BEGIN
    PERFORM hippocampus._check_range('p_limit', p_limit, 1, 1000000);
    WITH crowded AS MATERIALIZED (
        SELECT t.user_id, t.app_name, t.source FROM hippocampus.posting_totals t
        GROUP BY t.user_id, t.app_name, t.source HAVING count(*) > 64
        ORDER BY count(*) DESC LIMIT p_limit
    ), held AS MATERIALIZED (
        SELECT t.id, t.user_id, t.app_name, t.source FROM hippocampus.posting_totals t
        JOIN crowded c ON c.user_id = t.user_id AND c.app_name = t.app_name AND c.source = t.source
        FOR UPDATE OF t SKIP LOCKED
    ), folded AS (
        DELETE FROM hippocampus.posting_totals t USING held h
        WHERE t.id = h.id AND t.user_id = h.user_id AND t.app_name = h.app_name AND t.source = h.source
        RETURNING t.rows, t.terms, t.user_id, t.app_name, t.source
    )
    INSERT INTO hippocampus.posting_totals (rows, terms, user_id, app_name, source)
    SELECT greatest(-10000000000, least(10000000000, sum(f.rows))), greatest(-10000000000000, least(10000000000000, sum(f.terms))),
        f.user_id, f.app_name, f.source -- within the table's check, whatever a bound login wrote of itself
    FROM folded f GROUP BY f.user_id, f.app_name, f.source;
    GET DIAGNOSTICS v_folded = ROW_COUNT;
    RETURN v_folded;
END
$fn$;
COMMENT ON FUNCTION hippocampus.fold_posting_totals IS
    'Folds posting_totals of tenants that have more than 64 rows of a source into one, of at most p_limit; returns how many it folded. The retention job calls it.';
REVOKE ALL ON FUNCTION hippocampus.fold_posting_totals FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.fold_posting_totals TO hippocampus_worker;
