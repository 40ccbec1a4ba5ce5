-- What the lists of the anchors of a question hold, merged: of each row its best score, and which anchors brought it,
-- the best of them first. Of a list that is long, what is not allowed or superseded takes no place among p_limit. Narrow:
-- the text is read for what is returned.
CREATE OR REPLACE FUNCTION hippocampus._anchored_rows(
    p_user_id text,
    p_app_name text,
    p_generation integer,
    p_query text,
    p_query_embedding public.vector,
    p_semantic_theta double precision,
    p_project_anchors text[],
    p_tiers text[],
    p_cap integer,
    p_limit integer
) RETURNS TABLE (origin text, row_id uuid, whole uuid, anchor_score double precision, tier text, anchors text[], ways text[])
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 300
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $fn$
DECLARE
    v_allowed text[] := (SELECT array_agg(a.source) FROM hippocampus.allowed_sources a
        WHERE a.user_id = p_user_id AND a.app_name = p_app_name); -- null where all are
BEGIN
    RETURN QUERY
    WITH merged AS MATERIALIZED (
        SELECT l.chunk_id, l.memory_id, max(l.score)::double precision AS anchor_score, min(l.tier) AS tier,
            array_agg(t.term ORDER BY l.score DESC, t.term) AS anchors, array_agg(t.way ORDER BY l.score DESC, t.term) AS ways
        FROM hippocampus._triggered_anchors(p_user_id, p_app_name, p_generation, p_query, p_query_embedding, p_semantic_theta, p_project_anchors) t
        CROSS JOIN LATERAL (
            SELECT c.chunk_id, c.memory_id, c.score, c.tier FROM hippocampus.anchor_chunks c
            WHERE c.anchor_id = t.id AND c.generation = p_generation AND c.user_id = p_user_id AND c.app_name = p_app_name
              AND c.tier = ANY (p_tiers)
            ORDER BY c.score DESC, c.row_id LIMIT p_cap) l
        GROUP BY l.chunk_id, l.memory_id
    )
    SELECT 'chunk', c.id, c.document_id, m.anchor_score, m.tier, m.anchors, m.ways
    FROM merged m
    JOIN hippocampus.chunks c ON c.id = m.chunk_id AND c.user_id = p_user_id AND c.app_name = p_app_name
    JOIN hippocampus.documents d ON d.id = c.document_id AND d.user_id = p_user_id AND d.app_name = p_app_name
    WHERE v_allowed IS NULL OR d.source = ANY (v_allowed)
    UNION ALL
    SELECT 'memory', r.id, r.id, m.anchor_score, m.tier, m.anchors, m.ways
    FROM merged m
    JOIN hippocampus.memories r ON r.id = m.memory_id AND r.user_id = p_user_id AND r.app_name = p_app_name AND r.superseded_by IS NULL
    WHERE v_allowed IS NULL OR r.source = ANY (v_allowed)
    ORDER BY 4 DESC, 2 LIMIT p_limit;
END
$fn$;
COMMENT ON FUNCTION hippocampus._anchored_rows IS
    'The rows that the anchors of a question list, of sources that are allowed, with the anchors that brought them.';
REVOKE ALL ON FUNCTION hippocampus._anchored_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._anchored_rows
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
