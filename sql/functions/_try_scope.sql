-- What a function that writes the memory of several users asks before it takes a row of one: false where somebody
-- deletes that user, whose rows it then leaves alone. Such a function waits for nobody while it holds rows.
CREATE OR REPLACE FUNCTION hippocampus._try_scope(
    p_user_id text,
    p_app_name text
) RETURNS boolean
LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT pg_try_advisory_xact_lock_shared(hippocampus._scope_key(p_user_id, p_app_name));
END;
COMMENT ON FUNCTION hippocampus._try_scope IS
    'Whether nobody deletes the user; keeps it so until the transaction ends. A lock a user: for few users at a time.';
REVOKE ALL ON FUNCTION hippocampus._try_scope FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._try_scope TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
