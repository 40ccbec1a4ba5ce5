-- Retention in one transaction. The retention job does the same batch by batch. Words of one user go at once, those of many
-- later, see _fade_memories.
CREATE OR REPLACE FUNCTION hippocampus.cleanup_low_value_memories(
    p_threshold double precision DEFAULT 0.1,
    p_min_age_days integer DEFAULT 7,
    p_user_id text DEFAULT NULL,
    p_app_name text DEFAULT NULL,
    p_dry_run boolean DEFAULT false,
    p_now timestamptz DEFAULT now()
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_batch hippocampus.retention_batches;
    v_deleted integer := 0;
    v_done boolean := false;
BEGIN
    PERFORM hippocampus._check_time('p_now', p_now);
    PERFORM hippocampus._check_range('p_threshold', coalesce(p_threshold, 0), 0, 1);
    PERFORM hippocampus._check_range('p_min_age_days', coalesce(p_min_age_days, 0), 0, 36500);
    IF p_dry_run IS DISTINCT FROM false THEN -- whoever does not say deletes nothing
        SELECT count(*) INTO v_deleted FROM hippocampus.memories m
        CROSS JOIN LATERAL hippocampus._retention_policy(m.app_name, m.memory_type, m.category) p
        WHERE (p_user_id IS NULL OR m.user_id = p_user_id) AND (p_app_name IS NULL OR m.app_name = p_app_name)
          AND hippocampus._is_faded(p, hippocampus._retention(p, m.initial_score, m.running_intensity, m.access_count,
              m.last_accessed_at, m.created_at, p_now), m.created_at, p_now, p_threshold, p_min_age_days)
          AND NOT EXISTS (SELECT FROM hippocampus._pinned(ARRAY[m.id], ARRAY[m.user_id], ARRAY[m.app_name]));
        RETURN v_deleted;
    END IF;
    -- what every policy says is found by the instants that were predicted; anything else must be computed
    WHILE NOT EXISTS (SELECT FROM (
            SELECT p.* FROM hippocampus.retention_policies p WHERE p_app_name IS NULL OR p.app_name IN (p_app_name, '*')
            UNION ALL
            SELECT d.* FROM hippocampus._retention_policy('*', '*', '*') d) AS p
        WHERE p.threshold <> p_threshold OR p.min_age_days <> p_min_age_days)
    LOOP
        SELECT b.* INTO v_batch FROM hippocampus.sweep_faded(5000, p_user_id, p_app_name, p_now) b;
        v_deleted := v_deleted + v_batch.deleted;
        v_done := v_batch.scanned < 5000;
        EXIT WHEN v_done;
    END LOOP;
    v_batch := ROW (0, 0, 0, '', '', '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid);
    WHILE NOT v_done LOOP
        SELECT b.* INTO v_batch FROM hippocampus.sweep_retention(v_batch.after_user_id, v_batch.after_app_name,
            v_batch.after_created_at, v_batch.after_id, 5000, p_user_id, p_app_name, p_threshold, p_min_age_days,
            false, true, p_now) b;
        v_deleted := v_deleted + v_batch.deleted;
        v_done := v_batch.after_id IS NULL;
    END LOOP;
    IF v_deleted > 0 AND p_user_id IS NOT NULL AND p_app_name IS NOT NULL THEN
        PERFORM hippocampus.fold_terms(p_user_id, p_app_name);
    END IF;
    RETURN v_deleted;
END
$fn$;
COMMENT ON FUNCTION hippocampus.cleanup_low_value_memories IS
    'Deletes memories whose retention is below p_threshold and that are older than p_min_age_days, of one tenant or of all that the role may see; null takes the value of each memory''s policy. Returns how many; with p_dry_run, how many it would.';
REVOKE ALL ON FUNCTION hippocampus.cleanup_low_value_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.cleanup_low_value_memories TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
