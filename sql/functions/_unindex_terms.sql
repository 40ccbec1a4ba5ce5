-- Takes rows out of the index of words. An id is unique within its tenant only, and a deletion that cascades is bound
-- by no policy: so rows are named with their tenant. They are noted, which ends their being found, and at once taken
-- out of the lists where nobody else is at the user's postings; of many rows, when an eighth of the source is to go,
-- since then its postings are read once for all. What is left is taken out by the user's next writer and by fold_terms,
-- which ends a sweep and is called by the worker where anything is noted.
CREATE OR REPLACE FUNCTION hippocampus._unindex_terms(
    p_source text,
    p_ids uuid[],
    p_user_ids text[],
    p_app_names text[]
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET enable_hashjoin = off -- or many rows that go would have all rows of all users read
SET enable_mergejoin = off
AS $fn$
DECLARE
    v_user record;
BEGIN
    INSERT INTO hippocampus.unindexed_rows (id, row_id, user_id, app_name)
    SELECT r.id, r.row_id, r.user_id, r.app_name
    FROM unnest(p_ids, p_user_ids, p_app_names) AS o (id, user_id, app_name)
    JOIN hippocampus.row_terms r ON r.row_id = o.id AND r.user_id = o.user_id AND r.app_name = o.app_name AND r.source = p_source
    ON CONFLICT DO NOTHING;
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN; -- lists that another writer changed meanwhile would be an error
    END IF;
    FOR v_user IN
        SELECT o.user_id, o.app_name FROM (
            SELECT u.user_id, u.app_name, count(*) AS rows FROM unnest(p_user_ids, p_app_names) AS u (user_id, app_name)
            GROUP BY u.user_id, u.app_name) o
        WHERE o.rows <= 256
           OR 8 * (SELECT count(*) FROM hippocampus.unindexed_rows n WHERE n.user_id = o.user_id AND n.app_name = o.app_name)
              >= (SELECT coalesce(sum(t.rows), 0) FROM hippocampus.posting_totals t
                  WHERE t.user_id = o.user_id AND t.app_name = o.app_name AND t.source = p_source)
        ORDER BY o.user_id, o.app_name
    LOOP
        IF hippocampus._hold_postings(v_user.user_id, v_user.app_name) THEN
            PERFORM hippocampus._clear_terms(v_user.user_id, v_user.app_name);
        END IF;
    END LOOP;
END
$fn$;
COMMENT ON FUNCTION hippocampus._unindex_terms IS 'Takes rows out of the index of words.';
REVOKE ALL ON FUNCTION hippocampus._unindex_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._unindex_terms TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
