-- Sums up the totals of those whose writers did not: they fold now and then, but not in REPEATABLE READ. Rows that
-- somebody holds are left for the next time. Call it in READ COMMITTED, or it may end in a serialization failure.
CREATE OR REPLACE FUNCTION hippocampus.fold_posting_totals(
    p_limit integer DEFAULT 1000
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_range('p_limit', p_limit, 1, 1000000);
    RETURN (
        WITH crowded AS MATERIALIZED (
            SELECT t.user_id, t.app_name, t.source FROM hippocampus.posting_totals t
            GROUP BY t.user_id, t.app_name, t.source HAVING count(*) > 64
            ORDER BY count(*) DESC LIMIT p_limit
        )
        SELECT coalesce(sum(hippocampus._fold_totals(c.user_id, c.app_name, c.source)), 0) FROM crowded c);
END
$fn$;
COMMENT ON FUNCTION hippocampus.fold_posting_totals IS
    'Folds posting_totals of tenants that have more than 64 rows of a source into one, of at most p_limit; returns how many it folded. The retention job calls it.';
REVOKE ALL ON FUNCTION hippocampus.fold_posting_totals FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.fold_posting_totals TO hippocampus_worker;
