-- Rows, and what was made of them: the clusters that hold a memory, and what is derived from it, over any number of
-- steps. It goes with them: see _forget_derived.
CREATE OR REPLACE FUNCTION hippocampus._made_of(
    p_user_id text,
    p_app_name text,
    p_ids uuid[]
) RETURNS SETOF uuid
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 20
BEGIN ATOMIC
    WITH RECURSIVE made AS (
        SELECT p.id FROM unnest(p_ids) AS p (id) WHERE p.id IS NOT NULL
        UNION
        SELECT n.id FROM made d CROSS JOIN LATERAL (
            SELECT c.cluster_id AS id FROM hippocampus.memory_cluster_members c
            WHERE c.memory_id = d.id AND c.user_id = p_user_id AND c.app_name = p_app_name
            UNION ALL SELECT l.from_id FROM hippocampus.memory_links l
            WHERE l.to_id = d.id AND l.link_type = 'derived_from' AND l.user_id = p_user_id AND l.app_name = p_app_name) n
    )
    SELECT d.id FROM made d;
END;
COMMENT ON FUNCTION hippocampus._made_of IS 'Rows, and the clusters and insights that were made of them.';
REVOKE ALL ON FUNCTION hippocampus._made_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._made_of
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
