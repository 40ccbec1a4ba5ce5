-- What a function that writes a user's memory begins with: _check_scope, _check_bound, and the lock that it shares with the user's
-- other writers. Waits for nobody but who deletes all of the user.
CREATE OR REPLACE FUNCTION hippocampus._write_scope(
    p_user_id text,
    p_app_name text
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_bound(p_user_id, p_app_name);
    PERFORM pg_advisory_xact_lock_shared(hippocampus._scope_key(p_user_id, p_app_name));
END
$fn$;
COMMENT ON FUNCTION hippocampus._write_scope IS
    'Refuses a scope that no row can have (HC001) or that a bound role is not set to (42501), and keeps the user from being deleted until the transaction ends.';
REVOKE ALL ON FUNCTION hippocampus._write_scope FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._write_scope TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
