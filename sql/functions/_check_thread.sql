-- Refuses a thread that is not there, so that a mistaken id is an error and not an empty answer. Null is any thread.
CREATE OR REPLACE FUNCTION hippocampus._check_thread(
    p_user_id text,
    p_app_name text,
    p_thread_id uuid
) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF p_thread_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM hippocampus.threads t WHERE t.id = p_thread_id AND t.user_id = p_user_id AND t.app_name = p_app_name) THEN
        RAISE EXCEPTION 'thread % is unknown', p_thread_id
            USING ERRCODE = 'HC002', HINT = 'Create it with create_thread; it must be of the same user and app.';
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_thread IS 'Raises HC002 for a thread that the user does not have in the app.';
REVOKE ALL ON FUNCTION hippocampus._check_thread FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_thread
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
