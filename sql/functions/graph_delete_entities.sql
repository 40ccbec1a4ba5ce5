CREATE OR REPLACE FUNCTION hippocampus.graph_delete_entities(
    p_user_id text,
    p_app_name text,
    p_names text[]
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_names text[];
    v_deleted integer;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._lock_graph(p_user_id, p_app_name);
    v_names := hippocampus._graph_meant(p_user_id, p_app_name, p_names);
    DELETE FROM hippocampus.graph_relations r
    WHERE r.user_id = p_user_id AND r.app_name = p_app_name AND (r.from_name = ANY (v_names) OR r.to_name = ANY (v_names));
    DELETE FROM hippocampus.graph_entities e
    WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND e.name = ANY (v_names);
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    RETURN v_deleted;
END
$fn$;
COMMENT ON FUNCTION hippocampus.graph_delete_entities IS
    'Deletes entities of a user''s graph by name, as it is or as a prompt shows it, with their observations and the relations from and to them, and returns how many entities there were.';
REVOKE ALL ON FUNCTION hippocampus.graph_delete_entities FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.graph_delete_entities TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
