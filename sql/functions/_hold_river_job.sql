-- Whether a pending consolidation will see what this transaction writes. One that could start at any moment
-- is held until the transaction ends, and the worker woken then: River's fetch passes over a row that is
-- locked. One that waits for its time (a retry, a snooze) is not: River's scheduler would wait for the lock,
-- and all other retries with it; such a job looks for new events once more before it ends. False where it
-- has started. One that is just being fetched is waited for, as the fetch's row is not yet pending and no
-- longer to be held: River's fetch is one statement that waits for no thread, so it ends soon. A lock that is
-- held longer than 10 s is somebody's forgotten transaction: lock_not_available.
-- SECURITY DEFINER because a tenant has no rights on River's tables. All it can do is hold a job of the
-- scope that is set; of any scope, where the login (session_user) is trusted, stepped down or not.
CREATE OR REPLACE FUNCTION hippocampus._hold_river_job(
    p_job_id uuid
) RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '10s'
AS $fn$
DECLARE
    v_trusted boolean := hippocampus._is_trusted();
BEGIN
    PERFORM FROM hippocampus.river_job r
    JOIN hippocampus.consolidation_jobs j ON j.river_job_id = r.id
    WHERE j.id = p_job_id AND j.status = 'pending' AND r.state IN ('available', 'pending')
      AND (v_trusted OR (j.user_id = current_setting('hippocampus.user_id', true)
                         AND j.app_name = current_setting('hippocampus.app_name', true)))
    FOR UPDATE OF r;
    IF FOUND THEN
        PERFORM pg_notify('hippocampus.river_insert', '{"queue":"consolidation"}');
        RETURN true;
    END IF;
    RETURN EXISTS (
        SELECT FROM hippocampus.river_job r
        JOIN hippocampus.consolidation_jobs j ON j.river_job_id = r.id
        WHERE j.id = p_job_id AND j.status = 'pending' AND r.state IN ('scheduled', 'retryable')
          AND (v_trusted OR (j.user_id = current_setting('hippocampus.user_id', true)
                             AND j.app_name = current_setting('hippocampus.app_name', true))));
END
$fn$;
COMMENT ON FUNCTION hippocampus._hold_river_job IS
    'Whether a pending consolidation will see what this transaction writes: holds its River job until the transaction ends, unless that waits for its time; false where it has started.';
REVOKE ALL ON FUNCTION hippocampus._hold_river_job FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._hold_river_job TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
