-- _try_scope for a sweep through any number of users: one of 64 locks that users share, since a server has room for
-- some thousands only. False, now and then, for the neighbour of one who is being deleted: left for the next sweep.
CREATE OR REPLACE FUNCTION hippocampus._sweep_scope(
    p_user_id text,
    p_app_name text
) RETURNS boolean
LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT pg_try_advisory_xact_lock_shared(hashtext('hippocampus.sweep'), (hippocampus._scope_key(p_user_id, p_app_name) & 63)::integer);
END;
COMMENT ON FUNCTION hippocampus._sweep_scope IS 'Whether nobody deletes the user; keeps it so until the transaction ends. One of 64 locks: for any number of users.';
REVOKE ALL ON FUNCTION hippocampus._sweep_scope FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._sweep_scope TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
