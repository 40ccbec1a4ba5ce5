-- Whether the login that this session began with may speak for the deployment: the service, the worker, the owner.
-- The login, not the role: a trusted service steps down to hippocampus_tenant in each transaction, and stays what it is.
CREATE OR REPLACE FUNCTION hippocampus._is_trusted()
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT pg_has_role(session_user, 'hippocampus_service', 'MEMBER') OR pg_has_role(session_user, 'hippocampus_owner', 'MEMBER');
END;
COMMENT ON FUNCTION hippocampus._is_trusted IS
    'Whether the session''s login is of the service, the worker or the owner, whatever role it has stepped down to.';
REVOKE ALL ON FUNCTION hippocampus._is_trusted FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._is_trusted TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
