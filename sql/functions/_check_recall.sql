-- Refuses what no recall can be asked for.
CREATE OR REPLACE FUNCTION hippocampus._check_recall(
    p_user_id text,
    p_app_name text,
    p_types text[],
    p_tags text[],
    p_min_importance double precision,
    p_limit integer,
    p_memory_types text[],
    p_now timestamptz
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_each_of('p_types', p_types,
        ARRAY['chat', 'observation', 'task', 'decision', 'tool-use', 'error', 'insight', 'other']);
    PERFORM hippocampus._check_tags('p_tags', p_tags);
    PERFORM hippocampus._check_range('p_min_importance', p_min_importance, 0, 1);
    PERFORM hippocampus._check_range('p_limit', p_limit, 0, 10000);
    PERFORM hippocampus._check_each_of('p_memory_types', p_memory_types, ARRAY['episodic', 'semantic', 'summary']);
    PERFORM hippocampus._check_time('p_now', p_now);
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_recall IS 'Raises HC001 or HC009 where the arguments of a recall are not valid.';
REVOKE ALL ON FUNCTION hippocampus._check_recall FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_recall
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
