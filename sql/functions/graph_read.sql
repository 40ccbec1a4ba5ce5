CREATE OR REPLACE FUNCTION hippocampus.graph_read(
    p_user_id text,
    p_app_name text
) RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_graph_size(p_user_id, p_app_name, NULL);
    RETURN hippocampus._graph_of(p_user_id, p_app_name, NULL);
END
$fn$;
COMMENT ON FUNCTION hippocampus.graph_read IS
    'A user''s whole graph, in the order in which it was drawn: {"entities": [{"name", "entityType", "observations"}], "relations": [{"from", "to", "relationType"}]}. Raises HC006 for one of more than 16 MiB.';
REVOKE ALL ON FUNCTION hippocampus.graph_read FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.graph_read
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
