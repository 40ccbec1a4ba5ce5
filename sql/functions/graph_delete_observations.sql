-- Deletes observations. A text that an entity has not, to the letter, is one that was read in a prompt: it means what
-- _fence_text shows so.
CREATE OR REPLACE FUNCTION hippocampus.graph_delete_observations(
    p_user_id text,
    p_app_name text,
    p_deletions jsonb
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_names text[];
    v_deleted integer;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_graph('p_deletions', p_deletions, ARRAY['entityName'], 'observations');
    PERFORM hippocampus._lock_graph(p_user_id, p_app_name);
    v_names := hippocampus._graph_meant(p_user_id, p_app_name, ARRAY(
        SELECT d.value ->> 'entityName' FROM jsonb_array_elements(p_deletions) WITH ORDINALITY d ORDER BY d.ordinality));
    WITH given AS MATERIALIZED (
        SELECT DISTINCT v_names[d.ordinality] AS name, t.value AS content, sha256(convert_to(t.value, 'UTF8')) AS hash
        FROM jsonb_array_elements(p_deletions) WITH ORDINALITY d
        CROSS JOIN LATERAL jsonb_array_elements_text(d.value -> 'observations') t
    ), missing AS MATERIALIZED (
        SELECT g.name, g.content FROM given g
        WHERE NOT EXISTS (
            SELECT FROM hippocampus.graph_observations o
            WHERE o.user_id = p_user_id AND o.app_name = p_app_name AND o.entity_name = g.name AND o.content_hash = g.hash)
    ), shown AS MATERIALIZED (
        SELECT o.entity_name, o.content_hash, hippocampus._fence_text(o.content) AS reads
        FROM hippocampus.graph_observations o
        WHERE o.user_id = p_user_id AND o.app_name = p_app_name AND o.entity_name IN (SELECT m.name FROM missing m)
          AND o.content ~* hippocampus._fence_signs()
    )
    DELETE FROM hippocampus.graph_observations o
    USING (SELECT g.name, g.hash FROM given g
           UNION
           SELECT s.entity_name, s.content_hash FROM shown s JOIN missing m ON m.name = s.entity_name AND m.content = s.reads) d
    WHERE o.user_id = p_user_id AND o.app_name = p_app_name AND o.entity_name = d.name AND o.content_hash = d.hash;
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    RETURN v_deleted;
END
$fn$;
COMMENT ON FUNCTION hippocampus.graph_delete_observations IS
    'Deletes observations from [{"entityName", "observations": […]}], each to the letter or as a prompt shows it, and returns how many there were; what is not there is no error.';
REVOKE ALL ON FUNCTION hippocampus.graph_delete_observations FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.graph_delete_observations TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
