CREATE OR REPLACE FUNCTION hippocampus.graph_search(
    p_user_id text,
    p_app_name text,
    p_query text
) RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_query text;
    v_names text[];
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_size('p_query', p_query, 0, 65536);
    -- names and types are of "C" columns, whose collation would fold ASCII only
    v_query := lower(p_query COLLATE "default");
    v_names := ARRAY(
        SELECT e.name FROM hippocampus.graph_entities e
        WHERE e.user_id = p_user_id AND e.app_name = p_app_name
          AND (hippocampus._graph_says(e.name COLLATE "default", v_query)
            OR hippocampus._graph_says(e.entity_type COLLATE "default", v_query)
            OR EXISTS (
                SELECT FROM hippocampus.graph_observations o
                WHERE o.user_id = e.user_id AND o.app_name = e.app_name AND o.entity_name = e.name
                  AND hippocampus._graph_says(o.content, v_query))));
    PERFORM hippocampus._check_graph_size(p_user_id, p_app_name, v_names);
    RETURN hippocampus._graph_of(p_user_id, p_app_name, v_names);
END
$fn$;
COMMENT ON FUNCTION hippocampus.graph_search IS
    'The entities of a user''s graph whose name, type or an observation contains a text, as it is or as a prompt shows it, whatever its case, and the relations from or to them; as graph_read. An empty text is in every one.';
REVOKE ALL ON FUNCTION hippocampus.graph_search FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.graph_search
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
