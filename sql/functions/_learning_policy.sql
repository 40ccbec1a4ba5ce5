-- The policy of learning that holds for an app: its own, the deployment's, or, where neither is there, the defaults of
-- the table.
CREATE OR REPLACE FUNCTION hippocampus._learning_policy(
    p_app_name text
) RETURNS hippocampus.learning_policies
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT r.* FROM (
        SELECT p.*
        FROM hippocampus.learning_policies p
        WHERE p.app_name IN (p_app_name, '*')
        UNION ALL
        SELECT '-infinity'::timestamptz, 0.3::double precision, 0.5::double precision, 0.2::double precision, 1, 2, NULL::integer,
            true, '*'::text COLLATE "C", '{success}'::text[]
    ) r
    ORDER BY r.app_name = '*', r.updated_at DESC
    LIMIT 1;
END;
COMMENT ON FUNCTION hippocampus._learning_policy IS
    'The policy of learning that holds for an app: its own, the deployment''s, or the built-in defaults where neither is there.';
REVOKE ALL ON FUNCTION hippocampus._learning_policy FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._learning_policy
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
