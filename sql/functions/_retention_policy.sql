-- The policy that holds for a kind of memory: the most exact row, app before type before category. SETOF, so
-- that Postgres can inline it: it is asked for once a candidate of a search.
CREATE OR REPLACE FUNCTION hippocampus._retention_policy(
    p_app_name text,
    p_memory_type text,
    p_category text
) RETURNS SETOF hippocampus.retention_policies
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
BEGIN ATOMIC
    SELECT p.*
    FROM hippocampus.retention_policies p
    WHERE p.app_name IN (p_app_name, '*')
      AND p.memory_type IN (p_memory_type, '*')
      AND p.category IN (p_category, '*')
    ORDER BY p.app_name = '*', p.memory_type = '*', p.category = '*'
    LIMIT 1;
END;
COMMENT ON FUNCTION hippocampus._retention_policy IS
    'The retention policy that holds for an app, memory type and category: the most exact row.';
REVOKE ALL ON FUNCTION hippocampus._retention_policy FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._retention_policy
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
