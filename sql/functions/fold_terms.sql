-- Ends what writers of the index of words leave to be done together: takes out all rows that are noted as gone, and
-- folds what no writer has folded, because its user has written little since or only in REPEATABLE READ. Users whose
-- postings somebody is at are left for the next time. Call it in READ COMMITTED, or it may end in a serialization failure.
CREATE OR REPLACE FUNCTION hippocampus.fold_terms(
    p_limit integer DEFAULT 1000
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_range('p_limit', p_limit, 1, 1000000);
    PERFORM CASE WHEN hippocampus._sweep_scope(n.user_id, n.app_name) AND hippocampus._hold_postings(n.user_id, n.app_name)
        THEN hippocampus._clear_terms(n.user_id, n.app_name) END
    FROM (SELECT DISTINCT u.user_id, u.app_name FROM hippocampus.unindexed_rows u LIMIT p_limit) n;
    RETURN (
        SELECT coalesce(sum(CASE WHEN hippocampus._sweep_scope(c.user_id, c.app_name)
            THEN hippocampus._fold_terms(c.user_id, c.app_name, c.source, 1) END), 0)
        FROM (SELECT r.user_id, r.app_name, r.source FROM hippocampus.row_terms r WHERE r.number < 0
              GROUP BY r.user_id, r.app_name, r.source HAVING count(*) >= 16 ORDER BY count(*) DESC LIMIT p_limit) c);
END
$fn$;
COMMENT ON FUNCTION hippocampus.fold_terms IS
    'Takes rows that are gone out of the index of words, and folds into it what users have at least 16 rows of a source of; of at most p_limit users each. Returns how many rows it folded. The retention job calls it.';
REVOKE ALL ON FUNCTION hippocampus.fold_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.fold_terms TO hippocampus_worker;
