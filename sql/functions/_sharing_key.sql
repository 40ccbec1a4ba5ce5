-- The advisory lock of an app's sharing, or of the deployment's (*). Who shares holds both shared, who takes the leave away waits
-- for them and holds it alone: what was shared before is taken back, what would be shared meanwhile is refused.
CREATE OR REPLACE FUNCTION hippocampus._sharing_key(
    p_app_name text
) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT hashtextextended('hippocampus.sharing ' || quote_literal(p_app_name), 0);
END;
COMMENT ON FUNCTION hippocampus._sharing_key IS 'The key of the advisory lock of those who share, and of those who forbid it.';
REVOKE ALL ON FUNCTION hippocampus._sharing_key FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._sharing_key TO hippocampus_service, hippocampus_worker;
