-- Adds observations to entities, all of them or, where an entity is missing, none.
CREATE OR REPLACE FUNCTION hippocampus.graph_add_observations(
    p_user_id text,
    p_app_name text,
    p_observations jsonb
) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_item record;
    v_name text;
    v_names text[];
    v_added jsonb;
    v_results jsonb[] := '{}';
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_graph('p_observations', p_observations, ARRAY['entityName'], 'contents');
    PERFORM hippocampus._lock_graph(p_user_id, p_app_name);
    -- all at once: a name that was read in a prompt is looked for in the whole graph
    v_names := hippocampus._graph_meant(p_user_id, p_app_name, ARRAY(
        SELECT i.value ->> 'entityName' FROM jsonb_array_elements(p_observations) WITH ORDINALITY i ORDER BY i.ordinality));
    FOR v_item IN SELECT i.value, i.ordinality FROM jsonb_array_elements(p_observations) WITH ORDINALITY i ORDER BY i.ordinality LOOP
        v_name := v_names[v_item.ordinality];
        PERFORM FROM hippocampus.graph_entities e
        WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND e.name = v_name;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'entity % is not in the graph', quote_literal(v_name)
                USING ERRCODE = 'HC011', HINT = 'Create it first; nothing was added.';
        END IF;
        WITH added AS (
            INSERT INTO hippocampus.graph_observations AS a (position, user_id, app_name, entity_name, content_hash, content)
            SELECT coalesce(l.last, 0) + min(o.ordinality), p_user_id, p_app_name, v_name, sha256(convert_to(o.value, 'UTF8')), o.value
            FROM jsonb_array_elements_text(v_item.value -> 'contents') WITH ORDINALITY o
            CROSS JOIN (SELECT max(x.position) AS last FROM hippocampus.graph_observations x
                WHERE x.user_id = p_user_id AND x.app_name = p_app_name AND x.entity_name = v_name) l
            GROUP BY o.value, l.last
            ON CONFLICT (user_id, app_name, entity_name, content_hash) DO NOTHING
            RETURNING a.position, a.content
        )
        SELECT coalesce(jsonb_agg(d.content ORDER BY d.position), '[]') INTO v_added FROM added d;
        v_results := v_results || jsonb_build_object('entityName', v_name, 'addedObservations', v_added);
    END LOOP;
    RETURN to_jsonb(v_results);
END
$fn$;
COMMENT ON FUNCTION hippocampus.graph_add_observations IS
    'Adds observations from [{"entityName", "contents": […]}] and returns, for each, those that are new: [{"entityName", "addedObservations"}]. Raises HC011 where an entity is missing, and adds nothing then.';
REVOKE ALL ON FUNCTION hippocampus.graph_add_observations FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.graph_add_observations TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
