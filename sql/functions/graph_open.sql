CREATE OR REPLACE FUNCTION hippocampus.graph_open(
    p_user_id text,
    p_app_name text,
    p_names text[]
) RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_names text[];
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    v_names := hippocampus._graph_meant(p_user_id, p_app_name, p_names);
    PERFORM hippocampus._check_graph_size(p_user_id, p_app_name, v_names);
    RETURN hippocampus._graph_of(p_user_id, p_app_name, v_names);
END
$fn$;
COMMENT ON FUNCTION hippocampus.graph_open IS
    'The entities of a user''s graph that have these names, as they are or as a prompt shows them, and the relations from or to them; as graph_read. A name that is not there is passed over.';
REVOKE ALL ON FUNCTION hippocampus.graph_open FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.graph_open
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
