-- The memories that could be an answer, with what found each: its share of the evidence of words, its similarity, its
-- score by an anchor. An arm has p_pool of them; without a pool (a filter may want just those that are left out
-- otherwise) all that holds a word, and all vectors. With no word to look up and no vector the caller browses: then
-- the newest. What is superseded is among them. Not for parallel queries, see _vector_hits.
CREATE OR REPLACE FUNCTION hippocampus._search_candidates(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_query_embedding public.vector,
    p_terms text[],
    p_evidence jsonb,
    p_pool integer,
    p_project_anchors text[]
) RETURNS TABLE (row_id uuid, words double precision, similarity double precision, anchored double precision)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 100
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $fn$
DECLARE
    v_browse boolean := p_query_embedding IS NULL AND cardinality(p_terms) = 0;
BEGIN
    RETURN QUERY
    SELECT c.row_id, max(c.words), max(c.similarity), max(c.anchored)
    FROM (
        SELECT w.row_id, w.score AS words, NULL::double precision AS similarity, NULL::double precision AS anchored
        FROM hippocampus._word_hits(p_user_id, p_app_name, p_terms, p_pool, p_evidence) w
        UNION ALL
        SELECT v.row_id, NULL, v.similarity, NULL
        FROM hippocampus._vector_hits(p_user_id, p_app_name, 'memory', p_query_embedding, coalesce(p_pool, 1000000), p_pool IS NULL) v
        UNION ALL
        SELECT a.row_id, NULL, NULL, a.score
        FROM hippocampus.lookup_anchors(p_user_id, p_app_name, p_query, p_query_embedding, p_project_anchors, 100) a
        WHERE p_project_anchors IS NOT NULL AND a.origin = 'memory'
        UNION ALL
        SELECT b.id, NULL, NULL, NULL
        FROM (SELECT m.id FROM hippocampus.memories m
              WHERE v_browse AND m.user_id = p_user_id AND m.app_name = p_app_name AND m.superseded_by IS NULL
              ORDER BY m.occurred_from DESC, m.id LIMIT p_pool) b
    ) c
    GROUP BY c.row_id;
END
$fn$;
COMMENT ON FUNCTION hippocampus._search_candidates IS
    'The memories that could answer a search, with what found each: words, meaning, an anchor.';
REVOKE ALL ON FUNCTION hippocampus._search_candidates FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._search_candidates
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
