-- The consolidation policy that holds for an app: its own, the deployment's, or, where neither is there, the defaults
-- of the table: without a policy, a join would leave the thread out, and what is off would be on. SETOF, so that
-- Postgres can inline it.
CREATE OR REPLACE FUNCTION hippocampus._consolidation_policy(
    p_app_name text
) RETURNS SETOF hippocampus.consolidation_policies
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
BEGIN ATOMIC
    SELECT r.* FROM (
        SELECT p.*
        FROM hippocampus.consolidation_policies p
        WHERE p.app_name IN (p_app_name, '*')
        UNION ALL
        SELECT '-infinity'::timestamptz, NULL::real, 0.5::real, 0.7::real, 0.6::real, 0.4::real, 0.7::real, 0.8::real,
            100, 3600, 300, 60, 24, 20, false, false, false, '*'::text COLLATE "C", 'full_consolidation'::text COLLATE "C"
    ) r
    ORDER BY r.app_name = '*', r.updated_at DESC
    LIMIT 1;
END;
COMMENT ON FUNCTION hippocampus._consolidation_policy IS
    'The consolidation policy that holds for an app: its own, the deployment''s, or the built-in defaults where neither is there.';
REVOKE ALL ON FUNCTION hippocampus._consolidation_policy FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._consolidation_policy
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
