-- Whether a tenant lets a source reach a result: all do where it has no list.
CREATE OR REPLACE FUNCTION hippocampus._source_allowed(
    p_user_id text,
    p_app_name text,
    p_source text
) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT coalesce(bool_or(a.source = p_source), true)
    FROM hippocampus.allowed_sources a WHERE a.user_id = p_user_id AND a.app_name = p_app_name;
END;
COMMENT ON FUNCTION hippocampus._source_allowed IS
    'Whether a source is on the tenant''s allowlist, or there is none.';
REVOKE ALL ON FUNCTION hippocampus._source_allowed FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._source_allowed
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
