-- The graph as JSON, in the order in which it was drawn: all of it, or the entities of some names with the
-- relations that touch them, so that a caller sees where they lead.
CREATE OR REPLACE FUNCTION hippocampus._graph_of(
    p_user_id text,
    p_app_name text,
    p_names text[]
) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT jsonb_build_object(
        'entities', (
            SELECT coalesce(jsonb_agg(jsonb_build_object('name', e.name, 'entityType', e.entity_type, 'observations', (
                SELECT coalesce(jsonb_agg(o.content ORDER BY o.position), '[]')
                FROM hippocampus.graph_observations o
                WHERE o.user_id = e.user_id AND o.app_name = e.app_name AND o.entity_name = e.name))
                ORDER BY e.position, e.name), '[]')
            FROM hippocampus.graph_entities e
            WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND (p_names IS NULL OR e.name = ANY (p_names))),
        'relations', (
            SELECT coalesce(jsonb_agg(jsonb_build_object('from', r.from_name, 'to', r.to_name, 'relationType', r.relation_type)
                ORDER BY r.position, r.from_name, r.to_name, r.relation_type), '[]')
            FROM hippocampus.graph_relations r
            WHERE r.user_id = p_user_id AND r.app_name = p_app_name AND (p_names IS NULL OR EXISTS (
                SELECT FROM hippocampus.graph_entities e
                WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND e.name IN (r.from_name, r.to_name)
                  AND e.name = ANY (p_names)))));
END;
COMMENT ON FUNCTION hippocampus._graph_of IS
    'A user''s graph as {"entities": …, "relations": …}: all of it where p_names is null, else the entities of those names and the relations from or to them.';
REVOKE ALL ON FUNCTION hippocampus._graph_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._graph_of
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
