-- A setting of an app, or the deployment's where the app has none. Null where neither is set. In PL/pgSQL, which
-- keeps its plan: every search and every write asks.
CREATE OR REPLACE FUNCTION hippocampus._setting(
    p_app_name text,
    p_key text
) RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RETURN (SELECT s.value FROM hippocampus.settings s
        WHERE s.key = p_key AND s.app_name IN (p_app_name, '*')
        ORDER BY s.app_name = '*' LIMIT 1);
END
$fn$;
COMMENT ON FUNCTION hippocampus._setting IS 'A setting of an app, or the deployment''s where the app has none.';
REVOKE ALL ON FUNCTION hippocampus._setting FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._setting
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
