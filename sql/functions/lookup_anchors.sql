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
AS $fn$
DECLARE
    v_settings jsonb := hippocampus._anchor_settings(p_app_name);
    v_weight double precision := coalesce(p_anchor_weight, (v_settings -> 'anchor_weight')::double precision);
    v_theta double precision := coalesce(p_semantic_theta, (v_settings -> 'semantic_theta')::double precision);
    v_cap integer := (v_settings -> 'cap')::integer;
    v_config regconfig := hippocampus._text_config(p_app_name);
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
        SELECT a.id, a.term, 'lexical' AS way FROM hippocampus._anchor_grams(p_query, v_config) g
        JOIN hippocampus.anchors a ON a.user_id = p_user_id AND a.app_name = p_app_name AND a.key = g.key
        UNION ALL
        SELECT a.id, a.term, 'semantic' FROM hippocampus._vector_hits(p_user_id, p_app_name, 'anchor', p_query_embedding, 20, true) v
        JOIN hippocampus.anchors a ON a.id = v.row_id AND a.user_id = p_user_id AND a.app_name = p_app_name
        WHERE v.similarity >= v_theta
        UNION ALL
        SELECT a.id, a.term, 'project' FROM unnest(p_project_anchors) AS t (term)
        JOIN hippocampus.anchors a ON a.user_id = p_user_id AND a.app_name = p_app_name AND a.key = hippocampus._anchor_key(t.term, v_config)
    ), triggered AS MATERIALIZED (
        SELECT DISTINCT ON (n.id) n.id, n.term, n.way FROM named n
        JOIN hippocampus.anchors a ON a.id = n.id AND a.user_id = p_user_id AND a.app_name = p_app_name
        WHERE a.since <= v_generation AND a.until >= v_generation AND NOT EXISTS (
            SELECT FROM hippocampus.anchor_denials d WHERE d.user_id = p_user_id AND d.app_name = p_app_name AND d.key = a.key)
        ORDER BY n.id, n.way = 'lexical' DESC, n.way
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
        ORDER BY anchor_score DESC, l.chunk_id, l.memory_id LIMIT 300
    ), placed AS (
        SELECT 'chunk' AS origin, c.id AS row_id, d.path, d.source, c.heading, c.start_line, c.content, c.token_count, m.anchor_score, m.tier, m.anchors, m.ways
        FROM merged m
        JOIN hippocampus.chunks c ON c.id = m.chunk_id AND c.user_id = p_user_id AND c.app_name = p_app_name
        JOIN hippocampus.documents d ON d.id = c.document_id AND d.user_id = p_user_id AND d.app_name = p_app_name
        UNION ALL
        SELECT 'memory', r.id, '', r.source, '', 1, r.content, r.token_count, m.anchor_score, m.tier, m.anchors, m.ways
        FROM merged m
        JOIN hippocampus.memories r ON r.id = m.memory_id AND r.user_id = p_user_id AND r.app_name = p_app_name AND r.superseded_by IS NULL
    ), scored AS (
        SELECT p.*, least(1, greatest(0, coalesce(-(e.embedding OPERATOR(public.<#>) v_query), p.anchor_score))) AS query_score
        FROM placed p
        LEFT JOIN hippocampus.embeddings e ON v_query IS NOT NULL AND e.user_id = p_user_id AND e.app_name = p_app_name
            AND e.generation = v_serving.generation AND e.source = p.origin AND e.row_id = p.row_id
        WHERE hippocampus._source_allowed(p_user_id, p_app_name, p.source)
    ), best AS (
        SELECT DISTINCT ON (coalesce(nullif(s.path, ''), s.row_id::text)) s.*, v_weight * s.anchor_score + (1 - v_weight) * s.query_score AS score
        FROM scored s ORDER BY coalesce(nullif(s.path, ''), s.row_id::text), score DESC, s.row_id
    )
    SELECT b.origin, b.row_id, b.path, b.source, b.heading, b.start_line, b.content, b.score, b.anchor_score, b.query_score,
        b.anchors, b.ways, b.tier, b.token_count
    FROM best b ORDER BY b.score DESC, b.row_id LIMIT p_max_chunks;
END
$fn$;
COMMENT ON FUNCTION hippocampus.lookup_anchors IS
    'Finds chunks and memories by the anchors of a question: named by it (lexical), near to it in meaning (semantic, at p_semantic_theta or more), or of its project (p_project_anchors). Of each document the best chunk. score = p_anchor_weight · anchor_score + (1 - p_anchor_weight) · query_score, which is the cosine of question and chunk, or anchor_score without a vector. p_tiers: semantic is what the last rebuild found, episodic what was stored since. Nulls are the settings anchors. Empty until the first rebuild.';
REVOKE ALL ON FUNCTION hippocampus.lookup_anchors FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.lookup_anchors
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
