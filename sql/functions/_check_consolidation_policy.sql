-- Refuses a field that no policy has, and a value that a field can't hold, naming both.
CREATE OR REPLACE FUNCTION hippocampus._check_consolidation_policy(
    p_policy jsonb
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_field record;
BEGIN
    PERFORM hippocampus._check_object('p_policy', p_policy, 65536);
    FOR v_field IN
        SELECT e.key, e.value, jsonb_typeof(e.value) AS type, f.type AS wanted, f.low, f.high
        FROM jsonb_each(p_policy) e
        LEFT JOIN (VALUES
            ('target_rate', 'number', 0, 1), ('keep_importance', 'number', 0, 1), ('urgent_importance', 'number', 0, 1),
            ('min_importance', 'number', 0, 1), ('lowest_importance', 'number', 0, 1), ('highest_importance', 'number', 0, 1),
            ('fill_ratio', 'number', 0, 1), ('window_events', 'whole number', 1, 10000),
            ('window_seconds', 'whole number', 0, 31536000), ('idle_seconds', 'whole number', 1, 31536000),
            ('min_interval_seconds', 'whole number', 0, 86400), ('enabled', 'boolean', NULL, NULL), ('sharing', 'boolean', NULL, NULL),
            ('sleep_enabled', 'boolean', NULL, NULL), ('sleep_hours', 'whole number', 1, 8760), ('sleep_model_calls', 'whole number', 0, 10000),
            ('job_type', 'string', NULL, NULL)) AS f (key, type, low, high) ON f.key = e.key
        ORDER BY e.key
    LOOP
        IF v_field.wanted IS NULL THEN
            RAISE EXCEPTION 'a consolidation policy has no field %', quote_literal(left(v_field.key, 100))
                USING ERRCODE = 'HC009', HINT = 'Give columns of consolidation_policies, but for app_name and updated_at.';
        ELSIF v_field.key = 'target_rate' AND v_field.type = 'null' THEN
            CONTINUE;
        ELSIF v_field.type <> regexp_replace(v_field.wanted, '^whole ', '')
            OR v_field.wanted = 'whole number' AND v_field.value::numeric % 1 <> 0 THEN
            RAISE EXCEPTION 'the field % of the policy is %', v_field.key, left(v_field.value::text, 100)
                USING ERRCODE = 'HC009', HINT = format('Give a %s.', v_field.wanted);
        ELSIF v_field.type = 'number' THEN
            PERFORM hippocampus._check_range('the field ' || v_field.key || ' of the policy',
                hippocampus._json_number(v_field.value), v_field.low, v_field.high);
        ELSIF v_field.key = 'job_type' THEN
            PERFORM hippocampus._check_one_of('the field job_type of the policy', v_field.value #>> '{}',
                ARRAY['fast_replay', 'deep_reflection', 'full_consolidation'], 'HC003');
        END IF;
    END LOOP;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_consolidation_policy IS
    'Raises HC009, or HC003 for its job type, where fields of a consolidation policy are unknown or not valid.';
REVOKE ALL ON FUNCTION hippocampus._check_consolidation_policy FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_consolidation_policy TO hippocampus_service, hippocampus_worker;
