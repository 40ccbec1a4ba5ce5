-- Deletes items whose time is over, with their words and vectors. Those that somebody holds are left for the
-- next sweep, so that it never waits. Their words are taken out later, see _fade_memories.
CREATE OR REPLACE FUNCTION hippocampus.sweep_store(
    p_limit integer DEFAULT 5000,
    p_now timestamptz DEFAULT now()
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_deleted integer;
    v_fold_later text := coalesce(current_setting('hippocampus.fold_later', true), '');
BEGIN
    PERFORM hippocampus._check_time('p_now', p_now);
    PERFORM hippocampus._check_range('p_limit', p_limit, 1, 1000000);
    PERFORM set_config('hippocampus.fold_later', 'on', true);
    WITH due AS MATERIALIZED (
        SELECT s.user_id, s.app_name, s.path, s.key FROM hippocampus.store_items s
        WHERE s.expires_at <= p_now AND hippocampus._sweep_scope(s.user_id, s.app_name)
        ORDER BY s.expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    )
    DELETE FROM hippocampus.store_items s USING due d
    WHERE s.user_id = d.user_id AND s.app_name = d.app_name AND s.path = d.path AND s.key = d.key;
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    PERFORM set_config('hippocampus.fold_later', v_fold_later, true);
    RETURN v_deleted;
END
$fn$;
COMMENT ON FUNCTION hippocampus.sweep_store IS
    'Deletes items of the store whose time is over, at most p_limit, and returns how many. They were not returned before either.';
REVOKE ALL ON FUNCTION hippocampus.sweep_store FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.sweep_store TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
