-- The anchors that a question brings up: those that it names (lexical), those that it means (semantic, where a vector
-- is given), and those of the project that is being talked about (project). One that comes up in several ways is
-- said to be lexical first. Only those that serve, and that are not denied. Not for parallel queries, see _vector_hits.
CREATE OR REPLACE FUNCTION hippocampus._triggered_anchors(
    p_user_id text,
    p_app_name text,
    p_generation integer,
    p_query text,
    p_query_embedding public.vector,
    p_semantic_theta double precision,
    p_project_anchors text[]
) RETURNS TABLE (id uuid, term text, way text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 20
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $fn$
DECLARE
    v_config regconfig := hippocampus._text_config(p_app_name);
BEGIN
    RETURN QUERY
    WITH named AS MATERIALIZED (
        SELECT a.id, 'lexical' AS way FROM hippocampus._anchor_grams(p_query, v_config) g
        JOIN hippocampus.anchors a ON a.user_id = p_user_id AND a.app_name = p_app_name AND a.key = g.key
        UNION ALL
        SELECT v.id, 'semantic'
        FROM hippocampus._near_anchors(p_user_id, p_app_name, p_generation, p_query_embedding, p_semantic_theta, 20, false) v
        UNION ALL
        SELECT a.id, 'project' FROM unnest(p_project_anchors) AS t (term)
        JOIN hippocampus.anchors a ON a.user_id = p_user_id AND a.app_name = p_app_name AND a.key = hippocampus._anchor_key(t.term, v_config)
    )
    SELECT a.id, a.term, n.way
    FROM (SELECT m.id, (array_agg(m.way ORDER BY m.way = 'lexical' DESC, m.way))[1] AS way FROM named m GROUP BY m.id) n
    JOIN hippocampus.anchors a ON a.id = n.id AND a.user_id = p_user_id AND a.app_name = p_app_name
    WHERE a.since <= p_generation AND a.until >= p_generation AND NOT EXISTS (
        SELECT FROM hippocampus.anchor_denials d WHERE d.user_id = p_user_id AND d.app_name = p_app_name AND d.key = a.key);
END
$fn$;
COMMENT ON FUNCTION hippocampus._triggered_anchors IS
    'The anchors of a generation that a question names, means, or that stand for its project, each with the way it came up.';
REVOKE ALL ON FUNCTION hippocampus._triggered_anchors FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._triggered_anchors
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
