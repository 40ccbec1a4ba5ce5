CREATE OR REPLACE FUNCTION hippocampus.apply_retention_preset(
    p_app_name text,
    p_preset text,
    p_memory_type text DEFAULT '*',
    p_category text DEFAULT '*'
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_app(p_app_name, true);
    PERFORM hippocampus._check_one_of('p_preset', p_preset, ARRAY['busy', 'quiet', 'sensitive', 'archive']);
    PERFORM hippocampus._check_one_of('p_memory_type', p_memory_type, ARRAY['*', 'episodic', 'semantic', 'summary']);
    PERFORM hippocampus._check_one_of('p_category', p_category,
        ARRAY['*', 'chat', 'observation', 'task', 'decision', 'tool-use', 'error', 'insight', 'other']);
    INSERT INTO hippocampus.retention_policies AS r (app_name, memory_type, category, preset, decay_rate, threshold)
    SELECT p_app_name, p_memory_type, p_category, v.preset, v.decay_rate, v.threshold
    FROM (VALUES ('busy', 0.15, 0.15), ('quiet', 0.05, 0.05), ('sensitive', 0.3, 0.2), ('archive', 0.02, 0.02))
        AS v (preset, decay_rate, threshold)
    WHERE v.preset = p_preset
    ON CONFLICT (app_name, memory_type, category) DO UPDATE SET
        preset = excluded.preset, decay_rate = excluded.decay_rate, threshold = excluded.threshold,
        model = 'ebbinghaus', updated_at = now();
END
$fn$;
COMMENT ON FUNCTION hippocampus.apply_retention_preset IS
    'Sets an app''s retention policy to a preset (λ per day / threshold): busy 0.15/0.15, quiet 0.05/0.05, sensitive 0.3/0.2, archive 0.02/0.02. ''*'' as the app sets the deployment''s.';
REVOKE ALL ON FUNCTION hippocampus.apply_retention_preset FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.apply_retention_preset TO hippocampus_service, hippocampus_worker;
