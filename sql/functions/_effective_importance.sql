-- What a memory matters with its use counted in: often recalled is important, but never more than 0.2 more.
CREATE OR REPLACE FUNCTION hippocampus._effective_importance(
    p_importance real,
    p_access_count integer
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    -- by way of numeric, so that 0.7 of single precision is at least 0.7
    SELECT least(1.0, p_importance::numeric::double precision + least(0.2, 0.05 * ln(1.0::double precision + p_access_count)));
END;
COMMENT ON FUNCTION hippocampus._effective_importance IS
    'Importance raised by use: + 0.05 · ln(1 + access count), at most 0.2 more and never above 1.';
REVOKE ALL ON FUNCTION hippocampus._effective_importance FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._effective_importance
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
