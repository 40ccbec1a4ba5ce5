-- The newest memories that others of the app share, as recollections.
CREATE OR REPLACE FUNCTION hippocampus._shared(
    p_user_id text,
    p_app_name text,
    p_limit integer
) RETURNS SETOF hippocampus.recollections
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 50
BEGIN ATOMIC
    SELECT 'shared', s.memory_id, s.category, s.memory_type, s.content, 0::double precision,
        s.importance::numeric::double precision, s.tags, '{}'::jsonb, NULL::text, 'shared', NULL::uuid, NULL::bigint, NULL::bigint,
        s.occurred_from, s.shared_at, 0, s.shared_by
    FROM hippocampus.shared_memories s
    WHERE s.app_name = p_app_name AND s.user_id <> p_user_id
    ORDER BY s.occurred_from DESC, s.memory_id
    LIMIT greatest(p_limit, 1000);
END;
COMMENT ON FUNCTION hippocampus._shared IS 'The newest memories that others of the app share.';
REVOKE ALL ON FUNCTION hippocampus._shared FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._shared
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
