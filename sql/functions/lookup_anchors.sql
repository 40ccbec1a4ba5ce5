-- Finds chunks and memories by the anchors of a question: terms that it names (lexical), terms that it means
-- (semantic, where a vector is given), and those of the project that is being talked about (project), which stand
-- for what a pronoun leaves out. Their lists are merged; of a document the best chunk stays; what is near to the
-- question itself comes first. Sources that are not allowed and anchors that are denied are left out here, so both
-- lists hold at once. Not for parallel queries, see _vector_hits.
CREATE OR REPLACE FUNCTION hippocampus.lookup_anchors(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_query_embedding public.vector DEFAULT NULL,
    p_project_anchors text[] DEFAULT '{}',
    p_max_chunks integer DEFAULT 30,
    p_anchor_weight double precision DEFAULT NULL,
    p_semantic_theta double precision DEFAULT NULL,
    p_tiers text[] DEFAULT '{semantic,episodic}'
) RETURNS SETOF hippocampus.anchor_hits
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 30
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET max_parallel_workers_per_gather = 0 -- for a few thousand anchors, to start workers takes longer than to read
AS $fn$
DECLARE
    v_settings jsonb := hippocampus._anchor_settings(p_app_name);
    v_weight double precision := coalesce(p_anchor_weight, (v_settings -> 'anchor_weight')::double precision);
    v_theta double precision := coalesce(p_semantic_theta, (v_settings -> 'semantic_theta')::double precision);
    v_cap integer := (v_settings -> 'cap')::integer;
    v_generation integer;
    v_serving hippocampus.embedding_models;
    v_query public.halfvec;
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_max_chunks', p_max_chunks, 0, 100);
    PERFORM hippocampus._check_range('p_anchor_weight', v_weight, 0, 1);
    PERFORM hippocampus._check_range('p_semantic_theta', v_theta, 0, 1);
    PERFORM hippocampus._check_range('the number of p_project_anchors', cardinality(coalesce(p_project_anchors, '{}')), 0, 1000);
    PERFORM hippocampus._check_each_of('p_tiers', p_tiers, ARRAY['semantic', 'episodic']);
    v_serving := hippocampus._query_generation(public.vector_dims(p_query_embedding));
    v_query := hippocampus._unit_vector('p_query_embedding', p_query_embedding, v_serving.dimension);
    SELECT i.serving INTO v_generation FROM hippocampus.anchor_indexes i WHERE i.user_id = p_user_id AND i.app_name = p_app_name;
    RETURN QUERY
    WITH scored AS MATERIALIZED (
        SELECT p.*, least(1, greatest(0, coalesce((
            SELECT -(e.embedding OPERATOR(public.<#>) v_query) FROM hippocampus.embeddings e
            WHERE v_query IS NOT NULL AND e.user_id = p_user_id AND e.app_name = p_app_name
              AND e.generation = v_serving.generation AND e.source = p.origin AND e.row_id = p.row_id), p.anchor_score))) AS query_score
        FROM hippocampus._anchored_rows(p_user_id, p_app_name, v_generation, p_query, p_query_embedding, v_theta, p_project_anchors,
            p_tiers, v_cap, 300) p
    ), best AS MATERIALIZED (
        SELECT b.* FROM (
            SELECT DISTINCT ON (s.whole) s.*, v_weight * s.anchor_score + (1 - v_weight) * s.query_score AS score
            FROM scored s ORDER BY s.whole, score DESC, s.row_id) b
        ORDER BY b.score DESC, b.row_id LIMIT p_max_chunks
    )
    SELECT b.origin, b.row_id, coalesce(d.path, ''), coalesce(d.source, r.source), coalesce(c.heading, ''), coalesce(c.start_line, 1),
        coalesce(c.content, r.content), b.score, b.anchor_score, b.query_score, b.anchors, b.ways, b.tier, coalesce(c.token_count, r.token_count),
        CASE b.origin WHEN 'chunk' THEN 'document' ELSE r.trust END
    FROM best b
    LEFT JOIN hippocampus.chunks c ON b.origin = 'chunk' AND c.id = b.row_id AND c.user_id = p_user_id AND c.app_name = p_app_name
    LEFT JOIN hippocampus.documents d ON d.id = c.document_id AND d.user_id = p_user_id AND d.app_name = p_app_name
    LEFT JOIN hippocampus.memories r ON b.origin = 'memory' AND r.id = b.row_id AND r.user_id = p_user_id AND r.app_name = p_app_name
    ORDER BY b.score DESC, b.row_id;
END
$fn$;
COMMENT ON FUNCTION hippocampus.lookup_anchors IS
    'Finds chunks and memories by the anchors of a question: named by it (lexical), near to it in meaning (semantic, at p_semantic_theta or more), or of its project (p_project_anchors). Of each document the best chunk. score = p_anchor_weight · anchor_score + (1 - p_anchor_weight) · query_score, which is the cosine of question and chunk, or anchor_score without a vector. p_tiers: semantic is what the last rebuild found, episodic what was stored since. Nulls are the settings anchors. Empty until the first rebuild.';
REVOKE ALL ON FUNCTION hippocampus.lookup_anchors FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.lookup_anchors
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
