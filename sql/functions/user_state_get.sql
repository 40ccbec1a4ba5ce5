CREATE OR REPLACE FUNCTION hippocampus.user_state_get(
    p_user_id text,
    p_app_name text
) RETURNS SETOF hippocampus.user_state
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    RETURN QUERY SELECT s.* FROM hippocampus.user_state s WHERE s.user_id = p_user_id AND s.app_name = p_app_name;
END
$fn$;
COMMENT ON FUNCTION hippocampus.user_state_get IS
    'The state that all threads of a user share (ADK''s user: keys), with its version; no row where nothing was ever merged.';
REVOKE ALL ON FUNCTION hippocampus.user_state_get FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.user_state_get
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
