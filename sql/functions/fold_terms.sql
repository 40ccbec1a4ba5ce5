-- Ends what writers of a user's index of words leave to be done together: takes out all rows that are noted as gone, and
-- folds what no writer has, because little was written since or only in REPEATABLE READ. Does nothing where somebody
-- else is at the user's postings, or deletes the user; call it again then. In READ COMMITTED only.
CREATE OR REPLACE FUNCTION hippocampus.fold_terms(
    p_user_id text,
    p_app_name text,
    p_min_rows integer DEFAULT 16
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_min_rows', p_min_rows, 1, 1000000);
    IF NOT hippocampus._try_scope(p_user_id, p_app_name) THEN
        RETURN 0;
    END IF;
    PERFORM hippocampus._clear_terms(p_user_id, p_app_name);
    RETURN (SELECT sum(hippocampus._fold_terms(p_user_id, p_app_name, s.source, p_min_rows))
            FROM unnest(ARRAY['event', 'memory', 'fact', 'chunk', 'store']) AS s (source));
END
$fn$;
COMMENT ON FUNCTION hippocampus.fold_terms IS
    'Takes rows that are gone out of a user''s index of words, and folds into it what it has at least p_min_rows rows of a source of (or 24 times as many terms, 1,500 at least); returns how many rows it folded. The worker calls it where rows are gone, after a consolidation, and at the end of a retention sweep; without a worker, call it after deleting many rows.';
REVOKE ALL ON FUNCTION hippocampus.fold_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.fold_terms TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
