-- Keeps a waiting consolidation from starting before the caller's transaction ends, and wakes the worker
-- then. False where it has started, or is just being fetched.
-- SECURITY DEFINER because a tenant has no rights on River's tables. All it can do is hold a job whose
-- record the caller found, by the record's random id.
CREATE OR REPLACE FUNCTION hippocampus._hold_river_job(
    p_job_id uuid
) RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM FROM hippocampus.river_job r
    JOIN hippocampus.consolidation_jobs j ON j.river_job_id = r.id
    WHERE j.id = p_job_id AND j.status = 'pending' AND r.state IN ('available', 'scheduled', 'retryable', 'pending')
    FOR UPDATE OF r SKIP LOCKED;
    IF FOUND THEN
        PERFORM pg_notify('hippocampus.river_insert', '{"queue":"consolidation"}');
        RETURN true;
    END IF;
    RETURN false;
END
$fn$;
COMMENT ON FUNCTION hippocampus._hold_river_job IS
    'Holds the River job of a pending consolidation until the transaction ends; false where it has started.';
REVOKE ALL ON FUNCTION hippocampus._hold_river_job FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._hold_river_job TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
