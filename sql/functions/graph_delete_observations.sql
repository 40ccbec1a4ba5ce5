CREATE OR REPLACE FUNCTION hippocampus.graph_delete_observations(
    p_user_id text,
    p_app_name text,
    p_deletions jsonb
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_deleted integer;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_graph('p_deletions', p_deletions, ARRAY['entityName'], 'observations');
    PERFORM hippocampus._lock_graph(p_user_id, p_app_name);
    DELETE FROM hippocampus.graph_observations o
    USING (SELECT DISTINCT d.value ->> 'entityName' AS name, sha256(convert_to(t.value, 'UTF8')) AS hash
           FROM jsonb_array_elements(p_deletions) d
           CROSS JOIN LATERAL jsonb_array_elements_text(d.value -> 'observations') t) g
    WHERE o.user_id = p_user_id AND o.app_name = p_app_name AND o.entity_name = g.name AND o.content_hash = g.hash;
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    RETURN v_deleted;
END
$fn$;
COMMENT ON FUNCTION hippocampus.graph_delete_observations IS
    'Deletes observations from [{"entityName", "observations": […]}] and returns how many there were; what is not there is no error.';
REVOKE ALL ON FUNCTION hippocampus.graph_delete_observations FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.graph_delete_observations TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
