-- What a recall tells of a memory that another user shares. For use in FROM, where it is planned with the query.
CREATE OR REPLACE FUNCTION hippocampus._shared_recollection(
    p_shared hippocampus.shared_memories,
    p_score double precision
) RETURNS SETOF hippocampus.recollections
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
BEGIN ATOMIC
    SELECT 'shared', (p_shared).memory_id, (p_shared).category, (p_shared).memory_type, (p_shared).content, p_score,
        (p_shared).importance::numeric::double precision, (p_shared).tags, '{}'::jsonb, NULL::text, 'shared', NULL::uuid, NULL::bigint,
        NULL::bigint, (p_shared).occurred_from, (p_shared).shared_at, 0, (p_shared).shared_by, (p_shared).trust;
END;
COMMENT ON FUNCTION hippocampus._shared_recollection IS 'A memory that another user shares, as a recollection.';
REVOKE ALL ON FUNCTION hippocampus._shared_recollection FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._shared_recollection
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
