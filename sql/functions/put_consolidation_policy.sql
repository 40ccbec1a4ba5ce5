-- Sets what is given of an app's consolidation policy. An app without one of its own starts from the
-- deployment's. Threads that wait already are found at once when the policy becomes enabled.
CREATE OR REPLACE FUNCTION hippocampus.put_consolidation_policy(
    p_app_name text,
    p_policy jsonb
) RETURNS SETOF hippocampus.consolidation_policies
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_policy hippocampus.consolidation_policies;
BEGIN
    PERFORM hippocampus._check_app(p_app_name, true);
    PERFORM hippocampus._check_consolidation_policy(p_policy);
    -- two who set fields of one policy follow each other, and what moves its threshold, also where it has no row yet
    PERFORM pg_advisory_xact_lock(hashtextextended(format('hippocampus.policy %L', p_app_name), 0));
    PERFORM FROM hippocampus.consolidation_policies p WHERE p.app_name = p_app_name FOR UPDATE;
    SELECT p.* INTO v_policy FROM hippocampus._consolidation_policy(p_app_name) p;
    v_policy := jsonb_populate_record(v_policy, p_policy);
    v_policy.app_name := p_app_name;
    v_policy.updated_at := now();
    IF NOT (v_policy.lowest_importance <= v_policy.min_importance AND v_policy.min_importance <= v_policy.highest_importance
            AND v_policy.highest_importance <= v_policy.urgent_importance) THEN
        RAISE EXCEPTION 'lowest_importance %, min_importance %, highest_importance % and urgent_importance % are not in order',
            v_policy.lowest_importance, v_policy.min_importance, v_policy.highest_importance, v_policy.urgent_importance
            USING ERRCODE = 'HC009', HINT = 'Give lowest_importance <= min_importance <= highest_importance <= urgent_importance: what is urgent always becomes a memory.';
    END IF;
    INSERT INTO hippocampus.consolidation_policies SELECT v_policy.*
    ON CONFLICT (app_name) DO UPDATE SET
        updated_at = excluded.updated_at, target_rate = excluded.target_rate, keep_importance = excluded.keep_importance,
        urgent_importance = excluded.urgent_importance, min_importance = excluded.min_importance,
        lowest_importance = excluded.lowest_importance, highest_importance = excluded.highest_importance,
        fill_ratio = excluded.fill_ratio, window_events = excluded.window_events, window_seconds = excluded.window_seconds,
        idle_seconds = excluded.idle_seconds, min_interval_seconds = excluded.min_interval_seconds,
        enabled = excluded.enabled, sharing = excluded.sharing, sleep_enabled = excluded.sleep_enabled,
        sleep_hours = excluded.sleep_hours, sleep_model_calls = excluded.sleep_model_calls, job_type = excluded.job_type;
    IF p_policy -> 'enabled' = 'true' THEN
        INSERT INTO hippocampus.unconsolidated_threads (thread_id, user_id, app_name)
        SELECT t.id, t.user_id, t.app_name
        FROM hippocampus.threads t
        CROSS JOIN LATERAL hippocampus._consolidation_policy(t.app_name) p
        WHERE hippocampus._consolidated_seq(t, p.job_type) < t.next_seq - 1 AND p.enabled AND p_app_name IN (t.app_name, '*')
        FOR KEY SHARE OF t SKIP LOCKED -- of those that are being deleted, and of no others
        ON CONFLICT (thread_id, user_id, app_name) DO NOTHING;
    END IF;
    RETURN NEXT v_policy;
END
$fn$;
COMMENT ON FUNCTION hippocampus.put_consolidation_policy IS
    'Sets fields of an app''s consolidation policy, of the deployment''s with ''*'', and returns it whole: {"enabled": true} has threads consolidated without anybody asking, {"sharing": true} lets users show each other memories. Fields are the columns of consolidation_policies; those that are not given stay. Raises HC009 for a field that is unknown or a value that is not valid.';
REVOKE ALL ON FUNCTION hippocampus.put_consolidation_policy FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.put_consolidation_policy TO hippocampus_service, hippocampus_worker;
