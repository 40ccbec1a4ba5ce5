-- What a memory was made of: its members where it is a cluster, and what it is linked to as derived_from.
CREATE OR REPLACE FUNCTION hippocampus._sources_of(
    p_user_id text,
    p_app_name text,
    p_memory_id uuid
) RETURNS SETOF uuid
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 2
BEGIN ATOMIC
    SELECT l.to_id FROM hippocampus.memory_links l
    WHERE l.from_id = p_memory_id AND l.link_type = 'derived_from' AND l.user_id = p_user_id AND l.app_name = p_app_name
    UNION ALL
    SELECT c.memory_id FROM hippocampus.memory_cluster_members c
    WHERE c.cluster_id = p_memory_id AND c.user_id = p_user_id AND c.app_name = p_app_name;
END;
COMMENT ON FUNCTION hippocampus._sources_of IS 'The memories that a memory was made of: members of a cluster, and what it is derived_from.';
REVOKE ALL ON FUNCTION hippocampus._sources_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._sources_of TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
