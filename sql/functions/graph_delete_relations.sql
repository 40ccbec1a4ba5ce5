-- Deletes relations. One that is not there, to the letter, was read in a prompt: it means what _fence_text shows so.
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
    WITH given AS MATERIALIZED (
        SELECT DISTINCT i.value ->> 'from' AS from_name, i.value ->> 'to' AS to_name, i.value ->> 'relationType' AS relation_type
        FROM jsonb_array_elements(p_relations) i
    ), missing AS MATERIALIZED (
        SELECT g.* FROM given g
        WHERE NOT EXISTS (
            SELECT FROM hippocampus.graph_relations r
            WHERE r.user_id = p_user_id AND r.app_name = p_app_name
              AND r.from_name = g.from_name AND r.to_name = g.to_name AND r.relation_type = g.relation_type)
    ), shown AS MATERIALIZED (
        SELECT r.from_name, r.to_name, r.relation_type, hippocampus._fence_text(r.from_name COLLATE "default") AS from_reads,
            hippocampus._fence_text(r.to_name COLLATE "default") AS to_reads, hippocampus._fence_text(r.relation_type COLLATE "default") AS type_reads
        FROM hippocampus.graph_relations r
        WHERE r.user_id = p_user_id AND r.app_name = p_app_name AND EXISTS (SELECT FROM missing)
          AND concat_ws(' ', r.from_name, r.to_name, r.relation_type) COLLATE "default" ~* hippocampus._fence_signs()
    )
    DELETE FROM hippocampus.graph_relations r
    USING (SELECT g.* FROM given g
           UNION
           SELECT s.from_name, s.to_name, s.relation_type
           FROM shown s JOIN missing m ON m.from_name = s.from_reads AND m.to_name = s.to_reads AND m.relation_type = s.type_reads) d
    WHERE r.user_id = p_user_id AND r.app_name = p_app_name
      AND r.from_name = d.from_name AND r.to_name = d.to_name AND r.relation_type = d.relation_type;
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    RETURN v_deleted;
END
$fn$;
COMMENT ON FUNCTION hippocampus.graph_delete_relations IS
    'Deletes relations of a user''s graph from [{"from", "to", "relationType"}], each to the letter or as a prompt shows it, and returns how many there were.';
REVOKE ALL ON FUNCTION hippocampus.graph_delete_relations FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.graph_delete_relations TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
