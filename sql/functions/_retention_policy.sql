-- The policy that holds for a kind of memory: the most exact row, app before type before category. SETOF, so
-- that Postgres can inline it: it is asked for once a candidate of a search. Where there is no row at all, the
-- defaults of the table: without a policy, a join would leave the memory out.
CREATE OR REPLACE FUNCTION hippocampus._retention_policy(
    p_app_name text,
    p_memory_type text,
    p_category text
) RETURNS SETOF hippocampus.retention_policies
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
BEGIN ATOMIC
    SELECT r.* FROM (
        SELECT p.*
        FROM hippocampus.retention_policies p
        WHERE p.app_name IN (p_app_name, '*')
          AND p.memory_type IN (p_memory_type, '*')
          AND p.category IN (p_category, '*')
        UNION ALL
        SELECT '-infinity'::timestamptz, 0.1::double precision, 0.1::double precision, 1.0::double precision, 7, 100000,
            '*'::text COLLATE "C", '*'::text COLLATE "C", '*'::text COLLATE "C", 'ebbinghaus'::text COLLATE "C", NULL::text COLLATE "C"
    ) r
    ORDER BY r.app_name = '*', r.memory_type = '*', r.category = '*', r.updated_at DESC
    LIMIT 1;
END;
COMMENT ON FUNCTION hippocampus._retention_policy IS
    'The retention policy that holds for an app, memory type and category: the most exact row, or the built-in defaults where there is none.';
REVOKE ALL ON FUNCTION hippocampus._retention_policy FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._retention_policy
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
