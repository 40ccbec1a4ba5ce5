-- Takes rows out of the index of words: notes them, and takes them out of the lists at once where nobody else is at the
-- user's postings. Of a sweep, with more than 1,000 rows of a user or more than 8 users, only when a quarter of what a
-- user has is to go, since then the lists are written anew for all. What is left is taken out by the user's next
-- writer, by the worker within a minute, or by fold_terms. So is all where hippocampus.fold_later is set, see _fade_memories.
CREATE OR REPLACE FUNCTION hippocampus._unindex_terms(
    p_source text,
    p_ids uuid[],
    p_user_ids text[],
    p_app_names text[]
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_user record;
BEGIN
    PERFORM hippocampus._note_unindexed(p_source, p_ids, p_user_ids, p_app_names);
    IF current_setting('hippocampus.fold_later', true) = 'on' THEN
        RETURN;
    END IF;
    FOR v_user IN
        SELECT o.user_id, o.app_name FROM (
            SELECT u.user_id, u.app_name, count(*) AS rows, count(*) OVER () AS users FROM unnest(p_user_ids, p_app_names) AS u (user_id, app_name)
            GROUP BY u.user_id, u.app_name) o
        WHERE o.users <= 8 AND (o.rows <= 1000
           OR 4 * (SELECT count(*) FROM hippocampus.unindexed_rows n WHERE n.user_id = o.user_id AND n.app_name = o.app_name)
              >= (SELECT coalesce(sum(t.rows), 0) FROM hippocampus.posting_totals t WHERE t.user_id = o.user_id AND t.app_name = o.app_name))
    LOOP
        PERFORM hippocampus._clear_terms(v_user.user_id, v_user.app_name);
    END LOOP;
END
$fn$;
COMMENT ON FUNCTION hippocampus._unindex_terms IS 'Takes rows out of the index of words.';
REVOKE ALL ON FUNCTION hippocampus._unindex_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._unindex_terms TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
