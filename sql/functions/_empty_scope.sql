-- What a function that deletes a user begins with: waits for those who write the user's memory and for the sweeps of
-- all users that may have rows of it, and holds off new ones until the transaction ends.
CREATE OR REPLACE FUNCTION hippocampus._empty_scope(
    p_user_id text,
    p_app_name text
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_bound(p_user_id, p_app_name);
    PERFORM pg_advisory_xact_lock(hippocampus._scope_key(p_user_id, p_app_name));
    PERFORM pg_advisory_xact_lock(hashtext('hippocampus.sweep'), (hippocampus._scope_key(p_user_id, p_app_name) & 63)::integer);
END
$fn$;
COMMENT ON FUNCTION hippocampus._empty_scope IS 'Waits for the writers of a user''s memory, and holds off new ones until the transaction ends.';
REVOKE ALL ON FUNCTION hippocampus._empty_scope FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._empty_scope TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
