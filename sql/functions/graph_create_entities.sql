-- Creates entities with their observations. A name that is there already, or came earlier in the same call,
-- is passed over as it is: what is known of it is not overwritten.
CREATE OR REPLACE FUNCTION hippocampus.graph_create_entities(
    p_user_id text,
    p_app_name text,
    p_entities jsonb
) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_created jsonb;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_graph('p_entities', p_entities, ARRAY['name', 'entityType'], 'observations');
    PERFORM hippocampus._lock_graph(p_user_id, p_app_name);
    WITH given AS (
        SELECT DISTINCT ON (i.value ->> 'name') i.ordinality AS n, i.value ->> 'name' AS name,
            i.value ->> 'entityType' AS entity_type, i.value -> 'observations' AS observations
        FROM jsonb_array_elements(p_entities) WITH ORDINALITY i
        ORDER BY i.value ->> 'name', i.ordinality
    ), created AS (
        INSERT INTO hippocampus.graph_entities (position, user_id, app_name, name, entity_type)
        SELECT coalesce(l.last, 0) + g.n, p_user_id, p_app_name, g.name, g.entity_type
        FROM given g CROSS JOIN (SELECT max(e.position) AS last FROM hippocampus.graph_entities e
            WHERE e.user_id = p_user_id AND e.app_name = p_app_name) l
        ON CONFLICT (user_id, app_name, name) DO NOTHING
        RETURNING name
    ), observed AS (
        INSERT INTO hippocampus.graph_observations (position, user_id, app_name, entity_name, content_hash, content)
        SELECT min(o.ordinality), p_user_id, p_app_name, g.name, sha256(convert_to(o.value, 'UTF8')), o.value
        FROM created c JOIN given g ON g.name = c.name
        CROSS JOIN LATERAL jsonb_array_elements_text(g.observations) WITH ORDINALITY o
        GROUP BY g.name, o.value
        RETURNING entity_name, position, content
    )
    SELECT coalesce(jsonb_agg(jsonb_build_object('name', g.name, 'entityType', g.entity_type, 'observations', (
        SELECT coalesce(jsonb_agg(o.content ORDER BY o.position), '[]') FROM observed o WHERE o.entity_name = g.name))
        ORDER BY g.n), '[]') INTO v_created
    FROM created c JOIN given g ON g.name = c.name;
    RETURN v_created;
END
$fn$;
COMMENT ON FUNCTION hippocampus.graph_create_entities IS
    'Creates entities of a user''s graph from [{"name", "entityType", "observations": […]}] and returns those that were created; a name that is there already is left as it is.';
REVOKE ALL ON FUNCTION hippocampus.graph_create_entities FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.graph_create_entities TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
