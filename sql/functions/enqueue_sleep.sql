-- Asks for a sleep: a job that puts a user's memories in order. One waits at a time; asked again, it is that one.
CREATE OR REPLACE FUNCTION hippocampus.enqueue_sleep(
    p_user_id text,
    p_app_name text
) RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_id uuid;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    INSERT INTO hippocampus.sleep_reports (user_id, app_name) VALUES (p_user_id, p_app_name)
    ON CONFLICT (user_id, app_name) WHERE status IN ('pending', 'running') DO NOTHING
    RETURNING id INTO v_id;
    IF NOT FOUND THEN
        RETURN (SELECT r.id FROM hippocampus.sleep_reports r
                WHERE r.user_id = p_user_id AND r.app_name = p_app_name AND r.status IN ('pending', 'running'));
    END IF;
    INSERT INTO hippocampus.river_job (kind, args, queue, max_attempts)
    VALUES ('sleep', jsonb_build_object('report_id', v_id), 'sleep', 3);
    PERFORM pg_notify('hippocampus.river_insert', '{"queue":"sleep"}');
    RETURN v_id;
END
$fn$;
COMMENT ON FUNCTION hippocampus.enqueue_sleep IS
    'Asks for a sleep of a user: a job that links and tags memories, merges near-duplicates, makes clusters and draws insights, with the policy''s budget of model calls. Returns the id of its row in sleep_reports; one that waits already is returned again.';
REVOKE ALL ON FUNCTION hippocampus.enqueue_sleep FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.enqueue_sleep TO hippocampus_service, hippocampus_worker;
