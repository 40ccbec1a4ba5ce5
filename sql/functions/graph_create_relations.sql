CREATE OR REPLACE FUNCTION hippocampus.graph_create_relations(
    p_user_id text,
    p_app_name text,
    p_relations jsonb
) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_from text[];
    v_to text[];
    v_created jsonb;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_graph('p_relations', p_relations, ARRAY['from', 'to', 'relationType']);
    PERFORM hippocampus._lock_graph(p_user_id, p_app_name);
    v_from := hippocampus._graph_meant(p_user_id, p_app_name, ARRAY(
        SELECT i.value ->> 'from' FROM jsonb_array_elements(p_relations) WITH ORDINALITY i ORDER BY i.ordinality));
    v_to := hippocampus._graph_meant(p_user_id, p_app_name, ARRAY(
        SELECT i.value ->> 'to' FROM jsonb_array_elements(p_relations) WITH ORDINALITY i ORDER BY i.ordinality));
    WITH given AS (
        SELECT min(i.ordinality) AS n, v_from[i.ordinality] AS from_name, v_to[i.ordinality] AS to_name,
            i.value ->> 'relationType' AS relation_type
        FROM jsonb_array_elements(p_relations) WITH ORDINALITY i
        GROUP BY 2, 3, 4
    ), created AS (
        INSERT INTO hippocampus.graph_relations AS r (position, user_id, app_name, from_name, to_name, relation_type)
        SELECT coalesce(l.last, 0) + g.n, p_user_id, p_app_name, g.from_name, g.to_name, g.relation_type
        FROM given g CROSS JOIN (SELECT max(x.position) AS last FROM hippocampus.graph_relations x
            WHERE x.user_id = p_user_id AND x.app_name = p_app_name) l
        ON CONFLICT (user_id, app_name, from_name, to_name, relation_type) DO NOTHING
        RETURNING r.position, r.from_name, r.to_name, r.relation_type
    )
    SELECT coalesce(jsonb_agg(jsonb_build_object('from', c.from_name, 'to', c.to_name, 'relationType', c.relation_type)
        ORDER BY c.position), '[]') INTO v_created
    FROM created c;
    RETURN v_created;
END
$fn$;
COMMENT ON FUNCTION hippocampus.graph_create_relations IS
    'Creates relations of a user''s graph from [{"from", "to", "relationType"}] and returns those that were created; one that is there already is passed over. The entities need not be there yet.';
REVOKE ALL ON FUNCTION hippocampus.graph_create_relations FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.graph_create_relations TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
