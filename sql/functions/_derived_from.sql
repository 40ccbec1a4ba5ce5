-- What was made of a memory: the clusters that it is in, and what is linked to it as derived_from. SETOF of one
-- expression, so that Postgres can inline it into whoever goes through many.
CREATE OR REPLACE FUNCTION hippocampus._derived_from(
    p_user_id text,
    p_app_name text,
    p_memory_id uuid
) RETURNS SETOF uuid
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 2
BEGIN ATOMIC
    SELECT l.from_id FROM hippocampus.memory_links l
    WHERE l.to_id = p_memory_id AND l.link_type = 'derived_from' AND l.user_id = p_user_id AND l.app_name = p_app_name
    UNION ALL
    SELECT c.cluster_id FROM hippocampus.memory_cluster_members c
    WHERE c.memory_id = p_memory_id AND c.user_id = p_user_id AND c.app_name = p_app_name;
END;
COMMENT ON FUNCTION hippocampus._derived_from IS 'The memories that were made of a memory: clusters with it, and what is derived_from it.';
REVOKE ALL ON FUNCTION hippocampus._derived_from FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._derived_from
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
