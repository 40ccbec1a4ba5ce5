-- Begins a conversation.
CREATE OR REPLACE FUNCTION hippocampus.create_thread(
    p_user_id text,
    p_app_name text,
    p_session_id text DEFAULT NULL,
    p_state jsonb DEFAULT '{}',
    p_if_not_exists boolean DEFAULT false
) RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_id uuid;
    v_session_id text := coalesce(p_session_id, gen_random_uuid()::text);
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_size('p_session_id', v_session_id, 1, 255);
    IF p_state IS NULL THEN
        RAISE EXCEPTION 'p_state is null' USING ERRCODE = 'HC009', HINT = 'Give a JSON object.';
    END IF;
    PERFORM hippocampus._check_object('p_state', p_state, 1048576);
    INSERT INTO hippocampus.threads (user_id, app_name, session_id, state)
    VALUES (p_user_id, p_app_name, v_session_id, p_state)
    ON CONFLICT (user_id, app_name, session_id) DO NOTHING
    RETURNING id INTO v_id;
    IF v_id IS NULL AND p_if_not_exists THEN
        SELECT t.id INTO v_id FROM hippocampus.threads t
        WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.session_id = v_session_id;
    END IF;
    IF v_id IS NULL THEN
        RAISE EXCEPTION 'thread with session id % exists', quote_literal(v_session_id)
            USING ERRCODE = 'unique_violation', HINT = 'Use its thread, or pass p_if_not_exists => true to get its id.';
    END IF;
    RETURN v_id;
END
$fn$;
COMMENT ON FUNCTION hippocampus.create_thread IS
    'Begins a thread and returns its id. p_session_id is the client''s own name for it, unique per user and app; a random one by default. An existing name is an error (23505) unless p_if_not_exists.';
REVOKE ALL ON FUNCTION hippocampus.create_thread FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.create_thread TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
