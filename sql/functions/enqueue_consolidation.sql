-- Asks for a thread's consolidation, in the caller's transaction: rolled back with it, started within
-- milliseconds of its commit. Asked again while one waits, it returns the one that waits, since that one
-- will see what this transaction appends: see _hold_river_job. Locks the thread, as an append does, so that
-- sessions that append and enqueue in any order wait for each other in one order, and so that a worker,
-- which locks it before it ends, sees what is appended here.
CREATE OR REPLACE FUNCTION hippocampus.enqueue_consolidation(
    p_thread_id uuid,
    p_job_type text DEFAULT 'full_consolidation'
) RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_thread hippocampus.threads;
    v_id uuid;
BEGIN
    PERFORM hippocampus._check_one_of('p_job_type', p_job_type,
        ARRAY['fast_replay', 'deep_reflection', 'full_consolidation'], 'HC003');
    SELECT t.* INTO v_thread FROM hippocampus._lock_thread(p_thread_id) t;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'thread % is unknown', coalesce(p_thread_id::text, 'null')
            USING ERRCODE = 'HC002', HINT = 'Create it with create_thread; a bound role sees threads of its own scope only.';
    END IF;
    FOR v_try IN 1..3 LOOP
        BEGIN
            SELECT j.id INTO v_id FROM hippocampus.consolidation_jobs j
            WHERE j.thread_id = p_thread_id AND j.job_type = p_job_type AND j.status = 'pending'
            ORDER BY j.started_at NULLS FIRST LIMIT 1;
            EXIT WHEN FOUND AND hippocampus._hold_river_job(v_id);
            INSERT INTO hippocampus.consolidation_jobs (thread_id, user_id, app_name, job_type)
            VALUES (v_thread.id, v_thread.user_id, v_thread.app_name, p_job_type)
            RETURNING id INTO v_id;
            EXIT;
        EXCEPTION
            WHEN unique_violation THEN
                v_id := NULL; -- another session enqueued it just now; this block's rollback took our River job back
            WHEN lock_not_available THEN
                v_id := NULL;
                EXIT;
        END;
    END LOOP;
    IF v_id IS NULL THEN
        RAISE EXCEPTION 'the waiting consolidation of thread % is held by another session', p_thread_id
            USING ERRCODE = 'serialization_failure', HINT = 'Retry the transaction; if that fails too, look for a transaction that was left open in pg_stat_activity.';
    END IF;
    RETURN v_id;
END
$fn$;
COMMENT ON FUNCTION hippocampus.enqueue_consolidation IS
    'Asks for the consolidation of a thread: fast_replay (summary and episodes), deep_reflection (facts and insights) or full_consolidation (both). Returns the id of its row in consolidation_jobs; one that already waits is returned again. Part of the caller''s transaction; a worker starts at commit.';
REVOKE ALL ON FUNCTION hippocampus.enqueue_consolidation FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.enqueue_consolidation TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
