-- Refuses arguments of remember that no memory can have, naming them.
CREATE OR REPLACE FUNCTION hippocampus._check_memory(
    p_content text,
    p_memory_type text,
    p_category text,
    p_importance double precision,
    p_source text,
    p_author text,
    p_intensity double precision,
    p_initial_score double precision,
    p_occurred_from timestamptz,
    p_occurred_until timestamptz,
    p_token_count integer,
    p_now timestamptz
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_time('p_now', p_now);
    PERFORM hippocampus._check_time('p_occurred_from', coalesce(p_occurred_from, p_now));
    PERFORM hippocampus._check_time('p_occurred_until', coalesce(p_occurred_until, p_now));
    PERFORM hippocampus._check_size('p_content', p_content, 1, 1048576);
    PERFORM hippocampus._check_one_of('p_memory_type', p_memory_type, ARRAY['episodic', 'semantic', 'summary']);
    PERFORM hippocampus._check_one_of('p_category', p_category,
        ARRAY['chat', 'observation', 'task', 'decision', 'tool-use', 'error', 'insight', 'other']);
    PERFORM hippocampus._check_range('p_importance', coalesce(p_importance, 0), 0, 1);
    PERFORM hippocampus._check_range('p_intensity', p_intensity, 0, 1);
    PERFORM hippocampus._check_range('p_initial_score', p_initial_score, 0, 1);
    PERFORM hippocampus._check_range('p_token_count', coalesce(p_token_count, 0), 0, 2147483647);
    PERFORM hippocampus._check_size('p_source', p_source, 1, 255);
    PERFORM hippocampus._check_size('p_author', coalesce(p_author, 'nobody'), 1, 255);
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_memory IS
    'Raises HC006 or HC009 for a memory that cannot be stored, naming the argument.';
REVOKE ALL ON FUNCTION hippocampus._check_memory FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_memory TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
