-- Refuses what no curve of forgetting is defined for. In the branch that is never taken for a row: the curves stay
-- expressions that the planner can put in the place of their call.
CREATE OR REPLACE FUNCTION hippocampus._refuse_curve(
    p_last_accessed_at timestamptz,
    p_now timestamptz
) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_time('p_last_accessed_at', p_last_accessed_at);
    PERFORM hippocampus._check_time('p_now', p_now);
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._refuse_curve IS 'Raises HC009 for a time that is infinite or outside the years 1 to 9999.';
REVOKE ALL ON FUNCTION hippocampus._refuse_curve FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._refuse_curve
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
