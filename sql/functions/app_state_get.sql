CREATE OR REPLACE FUNCTION hippocampus.app_state_get(
    p_app_name text
) RETURNS SETOF hippocampus.app_state
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_app(p_app_name);
    RETURN QUERY SELECT s.* FROM hippocampus.app_state s WHERE s.app_name = p_app_name;
END
$fn$;
COMMENT ON FUNCTION hippocampus.app_state_get IS
    'The state that all threads of an app share (ADK''s app: keys), with its version; no row where nothing was ever merged.';
REVOKE ALL ON FUNCTION hippocampus.app_state_get FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.app_state_get
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
