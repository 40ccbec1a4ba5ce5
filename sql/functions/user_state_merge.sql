-- One statement reads and writes, on the newest version of the row: of two that merge at once, the second sees
-- the first one's keys, whether the row was there before or not.
CREATE OR REPLACE FUNCTION hippocampus.user_state_merge(
    p_user_id text,
    p_app_name text,
    p_delta jsonb,
    p_expected_version bigint DEFAULT NULL
) RETURNS hippocampus.user_state
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_state hippocampus.user_state;
    v_delta jsonb := hippocampus._check_object('p_delta', p_delta, 1048576);
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    INSERT INTO hippocampus.user_state AS s (user_id, app_name, state)
    VALUES (p_user_id, p_app_name, hippocampus._merge_state('{}', v_delta))
    ON CONFLICT (user_id, app_name) DO UPDATE SET
        state = hippocampus._merge_state(s.state, v_delta), version = s.version + 1, updated_at = now()
    RETURNING s.* INTO v_state;
    PERFORM hippocampus._check_version(format('the state of user %L of app %L', p_user_id, p_app_name),
        v_state.version, p_expected_version);
    RETURN v_state;
END
$fn$;
COMMENT ON FUNCTION hippocampus.user_state_merge IS
    'Merges keys into the state that all threads of a user share (ADK''s user: keys) and returns its row; a null takes its key away. Concurrent merges lose nothing. p_expected_version (0 for a state that must not exist) refuses with HC008 when somebody else wrote it. Other writers of the state wait until the transaction ends.';
REVOKE ALL ON FUNCTION hippocampus.user_state_merge FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.user_state_merge TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
