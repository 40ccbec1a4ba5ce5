CREATE OR REPLACE FUNCTION hippocampus.refresh_retention_scores(
    p_user_id text DEFAULT NULL,
    p_app_name text DEFAULT NULL,
    p_now timestamptz DEFAULT now()
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_batch hippocampus.retention_batches;
    v_refreshed integer := 0;
BEGIN
    PERFORM hippocampus._check_time('p_now', p_now);
    v_batch := ROW (0, 0, 0, '', '', '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid);
    LOOP
        SELECT b.* INTO v_batch FROM hippocampus.sweep_retention(v_batch.after_user_id, v_batch.after_app_name,
            v_batch.after_created_at, v_batch.after_id, 5000, p_user_id, p_app_name, NULL, NULL, true, false, p_now) b;
        v_refreshed := v_refreshed + v_batch.refreshed;
        EXIT WHEN v_batch.after_id IS NULL;
    END LOOP;
    RETURN v_refreshed;
END
$fn$;
COMMENT ON FUNCTION hippocampus.refresh_retention_scores IS
    'Brings memories.retention_score up to date, of one tenant or of all that the role may see, where it has moved by 0.01 or more. Returns how many rows moved. Searches do not need it: they compute the score for their own clock.';
REVOKE ALL ON FUNCTION hippocampus.refresh_retention_scores FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.refresh_retention_scores TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
