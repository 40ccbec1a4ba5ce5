CREATE OR REPLACE FUNCTION hippocampus.graph_delete_relations(
    p_user_id text,
    p_app_name text,
    p_relations jsonb
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_deleted integer;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_graph('p_relations', p_relations, ARRAY['from', 'to', 'relationType']);
    PERFORM hippocampus._lock_graph(p_user_id, p_app_name);
    DELETE FROM hippocampus.graph_relations r
    USING (SELECT DISTINCT i.value ->> 'from' AS from_name, i.value ->> 'to' AS to_name, i.value ->> 'relationType' AS relation_type
           FROM jsonb_array_elements(p_relations) i) g
    WHERE r.user_id = p_user_id AND r.app_name = p_app_name
      AND r.from_name = g.from_name AND r.to_name = g.to_name AND r.relation_type = g.relation_type;
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    RETURN v_deleted;
END
$fn$;
COMMENT ON FUNCTION hippocampus.graph_delete_relations IS
    'Deletes relations of a user''s graph from [{"from", "to", "relationType"}] and returns how many there were.';
REVOKE ALL ON FUNCTION hippocampus.graph_delete_relations FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.graph_delete_relations TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
