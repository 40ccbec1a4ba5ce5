-- Whether this transaction is in forget_user, which deletes every row of the user in every table that the caller may
-- delete from: what triggers would take out of the indexes of words, vectors and labels is gone, or will be. No right
-- hangs on it: who may set it may delete from those indexes anyway, and leave in them what it likes.
CREATE OR REPLACE FUNCTION hippocampus._user_goes() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT coalesce(current_setting('hippocampus.user_goes', true) = 'on', false);
END;
COMMENT ON FUNCTION hippocampus._user_goes IS 'Whether the rows that are deleted are all that there is of a user.';
REVOKE ALL ON FUNCTION hippocampus._user_goes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._user_goes TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
