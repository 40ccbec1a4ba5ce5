-- How alike rows of a tenant are by their vectors, as percentiles of the cosine, for each kind of pair. A similarity
-- means something else to every model: what any two rows reach by chance is the floor for every threshold.
--   random    any two rows of a sample, or one of a sample and one of a sample of p_other
--   nearest   a row and the one that is nearest to it (in p_other)
--   adjacent  memories that follow each other in a conversation
--   same_key  facts of one key with different values, current or not
-- Ids are random, so the first p_sample of them are a sample, and the same for every call. Vectors are those of the
-- model that a search of this transaction is made with.
CREATE OR REPLACE FUNCTION hippocampus.similarity_distribution(
    p_user_id text,
    p_app_name text,
    p_source text DEFAULT 'memory',
    p_other text DEFAULT NULL,
    p_sample integer DEFAULT 400
) RETURNS SETOF hippocampus.similarity_distributions
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 4
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_generation integer := (hippocampus._query_generation(NULL)).generation;
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_one_of('p_source', p_source, ARRAY['memory', 'fact', 'chunk', 'anchor', 'store']);
    PERFORM hippocampus._check_one_of('p_other', coalesce(p_other, p_source), ARRAY['memory', 'fact', 'chunk', 'anchor', 'store']);
    PERFORM hippocampus._check_range('p_sample', p_sample, 2, 2000);
    RETURN QUERY
    WITH one AS MATERIALIZED (
        SELECT e.row_id, e.embedding FROM hippocampus.embeddings e
        WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND e.generation = v_generation AND e.source = p_source
        ORDER BY e.row_id LIMIT p_sample
    ), other AS MATERIALIZED (
        SELECT e.row_id, e.embedding FROM hippocampus.embeddings e
        WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND e.generation = v_generation
          AND e.source = coalesce(p_other, p_source)
        ORDER BY e.row_id LIMIT p_sample
    ), pairs AS (
        SELECT 1 AS kind, -(o.embedding OPERATOR(public.<#>) t.embedding) AS similarity
        FROM one o JOIN other t ON p_other <> p_source OR t.row_id > o.row_id
        UNION ALL
        SELECT 2, (SELECT max(h.similarity) FROM hippocampus._vector_hits(p_user_id, p_app_name, coalesce(p_other, p_source), o.embedding::public.vector, 2) h
                   WHERE h.row_id <> o.row_id)
        FROM (SELECT * FROM one LIMIT 100) o
        UNION ALL
        SELECT 3, -(o.embedding OPERATOR(public.<#>) e.embedding)
        FROM one o
        JOIN hippocampus.memories m ON m.id = o.row_id AND m.user_id = p_user_id AND m.app_name = p_app_name
        JOIN hippocampus.memories n ON n.thread_id = m.thread_id AND n.from_seq = m.to_seq + 1
            AND n.user_id = p_user_id AND n.app_name = p_app_name AND n.memory_type = m.memory_type
        JOIN hippocampus.embeddings e ON e.row_id = n.id AND e.user_id = p_user_id AND e.app_name = p_app_name
            AND e.generation = v_generation AND e.source = 'memory'
        WHERE p_source = 'memory' AND p_other IS NULL
        UNION ALL
        SELECT 4, -(o.embedding OPERATOR(public.<#>) e.embedding)
        FROM one o
        JOIN hippocampus.facts f ON f.id = o.row_id AND f.user_id = p_user_id AND f.app_name = p_app_name
        JOIN hippocampus.facts g ON g.user_id = p_user_id AND g.app_name = p_app_name AND g.fact_type = f.fact_type
            AND g.key = f.key AND g.value <> f.value AND g.id > f.id
        JOIN hippocampus.embeddings e ON e.row_id = g.id AND e.user_id = p_user_id AND e.app_name = p_app_name
            AND e.generation = v_generation AND e.source = 'fact'
        WHERE p_source = 'fact' AND p_other IS NULL
    )
    SELECT (ARRAY['random', 'nearest', 'adjacent', 'same_key'])[m.kind], m.pairs, m.at[1], m.at[2], m.at[3], m.at[4], m.at[5]
    FROM (SELECT p.kind, count(*) AS pairs, percentile_cont(ARRAY[0.05, 0.5, 0.9, 0.99, 0.999]) WITHIN GROUP (ORDER BY p.similarity) AS at
          FROM pairs p WHERE p.similarity IS NOT NULL GROUP BY p.kind) m
    ORDER BY m.kind;
END
$fn$;
COMMENT ON FUNCTION hippocampus.similarity_distribution IS
    'How alike a user''s rows are by their vectors: percentiles of the cosine of random pairs of a sample, of a row and its nearest, of memories that follow each other, of facts of one key. p_source: memory, fact, chunk, anchor or store; p_other compares its rows with those of another source. A threshold belongs above what random pairs reach. A kind without pairs has no row.';
REVOKE ALL ON FUNCTION hippocampus.similarity_distribution FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.similarity_distribution
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
