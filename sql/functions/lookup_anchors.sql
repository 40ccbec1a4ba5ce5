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
    v_config regconfig := hippocampus._text_config(p_app_name);
    v_allowed text[] := (SELECT array_agg(a.source) FROM hippocampus.allowed_sources a
        WHERE a.user_id = p_user_id AND a.app_name = p_app_name); -- null where all are
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
    WITH named AS MATERIALIZED (
        SELECT a.id, 'lexical' AS way FROM hippocampus._anchor_grams(p_query, v_config) g
        JOIN hippocampus.anchors a ON a.user_id = p_user_id AND a.app_name = p_app_name AND a.key = g.key
        UNION ALL
        SELECT v.row_id, 'semantic' FROM hippocampus._vector_hits(p_user_id, p_app_name, 'anchor', p_query_embedding, 20) v
        WHERE v.similarity >= v_theta
        UNION ALL
        SELECT a.id, 'project' FROM unnest(p_project_anchors) AS t (term)
        JOIN hippocampus.anchors a ON a.user_id = p_user_id AND a.app_name = p_app_name AND a.key = hippocampus._anchor_key(t.term, v_config)
    ), triggered AS MATERIALIZED (
        SELECT a.id, a.term, n.way
        FROM (SELECT m.id, (array_agg(m.way ORDER BY m.way = 'lexical' DESC, m.way))[1] AS way FROM named m GROUP BY m.id) n
        JOIN hippocampus.anchors a ON a.id = n.id AND a.user_id = p_user_id AND a.app_name = p_app_name
        WHERE a.since <= v_generation AND a.until >= v_generation AND NOT EXISTS (
            SELECT FROM hippocampus.anchor_denials d WHERE d.user_id = p_user_id AND d.app_name = p_app_name AND d.key = a.key)
    ), merged AS MATERIALIZED (
        SELECT l.chunk_id, l.memory_id, max(l.score)::double precision AS anchor_score, min(l.tier) AS tier,
            array_agg(t.term ORDER BY l.score DESC, t.term) AS anchors, array_agg(t.way ORDER BY l.score DESC, t.term) AS ways
        FROM triggered t
        CROSS JOIN LATERAL (
            SELECT c.chunk_id, c.memory_id, c.score, c.tier FROM hippocampus.anchor_chunks c
            WHERE c.anchor_id = t.id AND c.generation = v_generation AND c.user_id = p_user_id AND c.app_name = p_app_name
              AND c.tier = ANY (p_tiers)
            ORDER BY c.score DESC, c.row_id LIMIT v_cap) l
        GROUP BY l.chunk_id, l.memory_id
    ), placed AS ( -- narrow: the text is read for what is returned; of a list that is long, what is not allowed takes no place
        SELECT 'chunk' AS origin, c.id AS row_id, c.document_id AS whole, m.anchor_score, m.tier, m.anchors, m.ways
        FROM merged m
        JOIN hippocampus.chunks c ON c.id = m.chunk_id AND c.user_id = p_user_id AND c.app_name = p_app_name
        JOIN hippocampus.documents d ON d.id = c.document_id AND d.user_id = p_user_id AND d.app_name = p_app_name
        WHERE v_allowed IS NULL OR d.source = ANY (v_allowed)
        UNION ALL
        SELECT 'memory', r.id, r.id, m.anchor_score, m.tier, m.anchors, m.ways
        FROM merged m
        JOIN hippocampus.memories r ON r.id = m.memory_id AND r.user_id = p_user_id AND r.app_name = p_app_name AND r.superseded_by IS NULL
        WHERE v_allowed IS NULL OR r.source = ANY (v_allowed)
        ORDER BY 4 DESC, 2 LIMIT 300
    ), scored AS MATERIALIZED (
        SELECT p.*, least(1, greatest(0, coalesce((
            SELECT -(e.embedding OPERATOR(public.<#>) v_query) FROM hippocampus.embeddings e
            WHERE v_query IS NOT NULL AND e.user_id = p_user_id AND e.app_name = p_app_name
              AND e.generation = v_serving.generation AND e.source = p.origin AND e.row_id = p.row_id), p.anchor_score))) AS query_score
        FROM placed p
    ), best AS MATERIALIZED (
        SELECT b.* FROM (
            SELECT DISTINCT ON (s.whole) s.*, v_weight * s.anchor_score + (1 - v_weight) * s.query_score AS score
            FROM scored s ORDER BY s.whole, score DESC, s.row_id) b
        ORDER BY b.score DESC, b.row_id LIMIT p_max_chunks
    )
    SELECT b.origin, b.row_id, coalesce(d.path, ''), coalesce(d.source, r.source), coalesce(c.heading, ''), coalesce(c.start_line, 1),
        coalesce(c.content, r.content), b.score, b.anchor_score, b.query_score, b.anchors, b.ways, b.tier, coalesce(c.token_count, r.token_count)
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
