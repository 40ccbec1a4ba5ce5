CREATE OR REPLACE FUNCTION hippocampus._context_budgets(
    p_max_tokens integer,
    p_system_ratio double precision,
    p_memory_ratio double precision,
    p_history_ratio double precision,
    p_fact_ratio double precision
) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_fact double precision;
BEGIN
    PERFORM hippocampus._check_range('p_max_tokens', p_max_tokens, 0, 10000000, 'HC007');
    PERFORM hippocampus._check_range('p_system_ratio', p_system_ratio, 0, 1, 'HC007');
    PERFORM hippocampus._check_range('p_memory_ratio', p_memory_ratio, 0, 1, 'HC007');
    PERFORM hippocampus._check_range('p_history_ratio', p_history_ratio, 0, 1, 'HC007');
    -- shares that were not given make room for those that were
    v_fact := coalesce(p_fact_ratio, greatest(0, 1 - p_system_ratio - p_memory_ratio - p_history_ratio));
    PERFORM hippocampus._check_range('p_fact_ratio', v_fact, 0, 1, 'HC007');
    IF p_memory_ratio + p_history_ratio + coalesce(p_fact_ratio, 0) > 1 + 1e-9 THEN
        RAISE EXCEPTION 'the ratios add up to %', p_memory_ratio + p_history_ratio + coalesce(p_fact_ratio, 0)
            USING ERRCODE = 'HC007', HINT = 'p_memory_ratio, p_history_ratio and p_fact_ratio together may be 1 at most.';
    END IF;
    RETURN jsonb_build_object('system', floor(p_max_tokens * p_system_ratio), 'fact', floor(p_max_tokens * v_fact),
        'memory', floor(p_max_tokens * p_memory_ratio), 'history', floor(p_max_tokens * p_history_ratio));
END
$fn$;
COMMENT ON FUNCTION hippocampus._context_budgets IS 'The tokens of each section of a window. Raises HC007 for a budget or ratio that cannot be.';
REVOKE ALL ON FUNCTION hippocampus._context_budgets FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._context_budgets
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
