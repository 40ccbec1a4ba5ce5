-- Refuses to read a graph, or the part of it that has these names, in one piece where that would not fit into a message:
-- it is read into memory, several times over, before anybody sees it. Counted before it is read.
CREATE OR REPLACE FUNCTION hippocampus._check_graph_size(
    p_user_id text,
    p_app_name text,
    p_names text[]
) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    c_most CONSTANT bigint := 16777216;
    v_bytes bigint := (
        SELECT coalesce(sum(octet_length(o.content) + 4), 0) FROM hippocampus.graph_observations o
        WHERE o.user_id = p_user_id AND o.app_name = p_app_name AND (p_names IS NULL OR o.entity_name = ANY (p_names))) + (
        SELECT coalesce(sum(octet_length(e.name) + octet_length(e.entity_type) + 50), 0) FROM hippocampus.graph_entities e
        WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND (p_names IS NULL OR e.name = ANY (p_names))) + (
        SELECT coalesce(sum(octet_length(r.from_name) + octet_length(r.to_name) + octet_length(r.relation_type) + 50), 0)
        FROM hippocampus.graph_relations r
        WHERE r.user_id = p_user_id AND r.app_name = p_app_name
          AND (p_names IS NULL OR r.from_name = ANY (p_names) OR r.to_name = ANY (p_names)));
BEGIN
    IF v_bytes > c_most THEN
        RAISE EXCEPTION 'this part of the graph is % bytes long', v_bytes
            USING ERRCODE = 'HC006', HINT = format('At most %s bytes are read in one piece; search for less, or open fewer names.', c_most);
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_graph_size IS
    'Raises HC006 where a graph, or the part of it that has these names, is too large to be read in one piece.';
REVOKE ALL ON FUNCTION hippocampus._check_graph_size FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_graph_size
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
