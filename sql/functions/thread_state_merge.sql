CREATE OR REPLACE FUNCTION hippocampus.thread_state_merge(
    p_thread_id uuid,
    p_delta jsonb,
    p_expected_version bigint DEFAULT NULL
) RETURNS hippocampus.threads
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_thread hippocampus.threads;
    v_delta jsonb := hippocampus._check_object('p_delta', p_delta, 1048576);
BEGIN
    PERFORM FROM hippocampus._lock_thread(p_thread_id);
    UPDATE hippocampus.threads t
    SET state = hippocampus._merge_state(t.state, v_delta), version = t.version + 1,
        updated_at = greatest(t.updated_at, now())
    WHERE t.id = p_thread_id
    RETURNING t.* INTO v_thread;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'thread % is unknown', coalesce(p_thread_id::text, 'null')
            USING ERRCODE = 'HC002', HINT = 'Create it with create_thread; a bound role sees threads of its own scope only.';
    END IF;
    PERFORM hippocampus._check_version('thread ' || p_thread_id, v_thread.version, p_expected_version);
    RETURN v_thread;
END
$fn$;
COMMENT ON FUNCTION hippocampus.thread_state_merge IS
    'Merges keys into a thread''s own state and returns its row; a null takes its key away. Concurrent merges lose nothing. p_expected_version is the thread''s version, which an append moves too: HC008 when somebody else wrote it since. HC002 for an unknown thread.';
REVOKE ALL ON FUNCTION hippocampus.thread_state_merge FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.thread_state_merge TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
