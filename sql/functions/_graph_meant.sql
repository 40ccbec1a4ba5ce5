-- The entities that names mean, in the order of the names. Whoever read a name in a prompt has it as _fence_text shows it,
-- and gives that back: it means the entity that reads so, the first that was drawn, where none has the name itself. A name
-- that means none stays.
CREATE OR REPLACE FUNCTION hippocampus._graph_meant(
    p_user_id text,
    p_app_name text,
    p_names text[]
) RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    WITH missing AS MATERIALIZED (
        SELECT DISTINCT n.name FROM unnest(p_names) n (name)
        WHERE NOT EXISTS (
            SELECT FROM hippocampus.graph_entities e
            WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND e.name = n.name)
    ), read AS MATERIALIZED (
        SELECT e.name, e.position, hippocampus._fence_text(e.name COLLATE "default") AS reads
        FROM hippocampus.graph_entities e
        WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND EXISTS (SELECT FROM missing)
          AND e.name COLLATE "default" ~ hippocampus._fence_signs()
    ), shown AS MATERIALIZED (
        SELECT DISTINCT ON (m.name) m.name, r.name AS meant
        FROM read r JOIN missing m ON m.name = r.reads
        ORDER BY m.name, r.position
    )
    SELECT ARRAY(
        SELECT coalesce(s.meant, n.name) FROM unnest(p_names) WITH ORDINALITY n (name, at) LEFT JOIN shown s ON s.name = n.name ORDER BY n.at);
END;
COMMENT ON FUNCTION hippocampus._graph_meant IS
    'The entities of a user''s graph that names mean, in their order: by the name itself or, where none has it, by the name as a prompt shows it.';
REVOKE ALL ON FUNCTION hippocampus._graph_meant FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._graph_meant
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
