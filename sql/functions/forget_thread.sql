-- Deletes a conversation and all that was drawn from it alone: events, memories, facts, jobs and their River
-- rows; drawn by a job, which names its sources, or stored by a client with the thread's id. A memory or a
-- fact that other threads tell as well stays, without this one among its sources; so does one that a consolidation
-- of another thread is just drawing, which is waited for.
CREATE OR REPLACE FUNCTION hippocampus.forget_thread(
    p_user_id text,
    p_app_name text,
    p_thread_id uuid
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_ids uuid[];
    v_count integer;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM FROM hippocampus.threads t
    WHERE t.id = p_thread_id AND t.user_id = p_user_id AND t.app_name = p_app_name FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'thread % is unknown', coalesce(p_thread_id::text, 'null')
            USING ERRCODE = 'HC002', HINT = 'It may be deleted already; a bound role sees threads of its own scope only.';
    END IF;
    v_ids := ARRAY(
        SELECT coalesce(s.memory_id, s.fact_id) FROM hippocampus.memory_sources s
        WHERE s.thread_id = p_thread_id AND s.user_id = p_user_id AND s.app_name = p_app_name
        UNION SELECT m.id FROM hippocampus.memories m
        WHERE m.thread_id = p_thread_id AND m.user_id = p_user_id AND m.app_name = p_app_name
        UNION SELECT f.id FROM hippocampus.facts f
        WHERE f.thread_id = p_thread_id AND f.user_id = p_user_id AND f.app_name = p_app_name);
    PERFORM hippocampus._hold_rows(p_user_id, p_app_name, v_ids);
    SELECT array_agg(d.id) INTO v_ids FROM unnest(v_ids) AS d (id)
    WHERE NOT EXISTS (
            SELECT FROM hippocampus.memory_sources o WHERE o.memory_id = d.id AND o.thread_id <> p_thread_id
                AND o.user_id = p_user_id AND o.app_name = p_app_name)
      AND NOT EXISTS (
            SELECT FROM hippocampus.memory_sources o WHERE o.fact_id = d.id AND o.thread_id <> p_thread_id
                AND o.user_id = p_user_id AND o.app_name = p_app_name);
    SELECT d.memories + d.facts INTO v_count FROM hippocampus._delete_rows(p_user_id, p_app_name, v_ids || ARRAY(
        SELECT f.memory_id FROM hippocampus.faded_sources f -- made of memories of it that have faded
        WHERE f.thread_id = p_thread_id AND f.user_id = p_user_id AND f.app_name = p_app_name)) d;
    DELETE FROM hippocampus.threads t
    WHERE t.id = p_thread_id AND t.user_id = p_user_id AND t.app_name = p_app_name;
    PERFORM hippocampus._clear_terms(p_user_id, p_app_name);
    RETURN v_count;
END
$fn$;
COMMENT ON FUNCTION hippocampus.forget_thread IS
    'Deletes a thread with its events and jobs, and the memories and facts that came from it alone. Returns how many memories and facts went. Raises HC002 for an unknown thread.';
REVOKE ALL ON FUNCTION hippocampus.forget_thread FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.forget_thread TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
