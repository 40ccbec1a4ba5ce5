-- The consolidation policy that holds for an app: its own, or the deployment's. SETOF, so that Postgres can
-- inline it.
CREATE OR REPLACE FUNCTION hippocampus._consolidation_policy(
    p_app_name text
) RETURNS SETOF hippocampus.consolidation_policies
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
BEGIN ATOMIC
    SELECT p.*
    FROM hippocampus.consolidation_policies p
    WHERE p.app_name IN (p_app_name, '*')
    ORDER BY p.app_name = '*'
    LIMIT 1;
END;
COMMENT ON FUNCTION hippocampus._consolidation_policy IS 'The consolidation policy that holds for an app: its own, or the deployment''s.';
REVOKE ALL ON FUNCTION hippocampus._consolidation_policy FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._consolidation_policy
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
