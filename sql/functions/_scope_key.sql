-- The advisory lock of a user's memory in an app. Who writes it holds it shared, from before its first row lock to
-- the end of its transaction; who deletes all of it holds it alone. So neither waits for a row of the other, in
-- whatever order the rows are taken.
CREATE OR REPLACE FUNCTION hippocampus._scope_key(
    p_user_id text,
    p_app_name text
) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT hashtextextended('hippocampus.scope ' || quote_literal(p_user_id) || ' ' || quote_literal(p_app_name), 0);
END;
COMMENT ON FUNCTION hippocampus._scope_key IS 'The key of the advisory lock that the writers of a user''s memory share.';
REVOKE ALL ON FUNCTION hippocampus._scope_key FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._scope_key TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
