-- What a state of a River job means to who asked for the job: the status of consolidation_jobs and sleep_reports.
CREATE OR REPLACE FUNCTION hippocampus._river_status(
    p_state text
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT CASE p_state WHEN 'running' THEN 'running' WHEN 'completed' THEN 'completed'
        WHEN 'discarded' THEN 'failed' WHEN 'cancelled' THEN 'cancelled' ELSE 'pending' END;
END;
COMMENT ON FUNCTION hippocampus._river_status IS 'The status of a job that a state of River''s means.';
REVOKE ALL ON FUNCTION hippocampus._river_status FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._river_status TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
