-- How well words and vectors find, alone and mixed, what belongs together in a user's own conversations. No question
-- has to be written: a turn is taken for a query, and found must be those that stand within three turns of it; it and
-- its copies are left out. A row for each share of the vectors from 0 to 1. Both arms are as they are without evidence
-- of neighbours, which would give the answer away. Ids are random, so the first p_sample turns are a sample.
CREATE OR REPLACE FUNCTION hippocampus.try_ranking(
    p_user_id text,
    p_app_name text,
    p_sample integer DEFAULT 100
) RETURNS SETOF hippocampus.ranking_trials
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 21
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_generation integer := (hippocampus._query_generation(NULL)).generation;
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_sample', p_sample, 1, 1000);
    RETURN QUERY
    WITH asked AS MATERIALIZED (
        SELECT m.id, m.content, m.content_hash, m.thread_id, m.from_seq, e.embedding
        FROM hippocampus.embeddings e
        JOIN hippocampus.memories m ON m.id = e.row_id AND m.user_id = p_user_id AND m.app_name = p_app_name
        WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND e.generation = v_generation AND e.source = 'memory'
          AND m.memory_type = 'episodic' AND m.superseded_by IS NULL AND m.thread_id IS NOT NULL AND m.from_seq IS NOT NULL
          AND octet_length(m.content) >= 40
        ORDER BY e.row_id LIMIT p_sample
    ), found AS MATERIALIZED (
        SELECT a.id AS query, c.row_id, max(c.words) AS words
        FROM asked a
        CROSS JOIN LATERAL (
            SELECT w.row_id, w.own / nullif(max(w.own) FILTER (WHERE w.row_id <> a.id) OVER (), 0) AS words
            FROM hippocampus._evidence(p_user_id, p_app_name, 'memory', hippocampus._query_terms(p_app_name, a.content), 100) w
            WHERE w.row_id IS NOT NULL AND w.own > 0
            UNION ALL
            SELECT v.row_id, NULL FROM hippocampus._vector_hits(p_user_id, p_app_name, 'memory', a.embedding::public.vector, 100) v) c
        WHERE c.row_id <> a.id
        GROUP BY a.id, c.row_id
    ), graded AS MATERIALIZED (
        SELECT f.query, f.row_id, coalesce(f.words, 0) AS words, greatest(0, -(e.embedding OPERATOR(public.<#>) a.embedding)) AS similarity,
            m.thread_id = a.thread_id AND abs(m.from_seq - a.from_seq) <= 3 AS near
        FROM found f
        JOIN asked a ON a.id = f.query
        JOIN hippocampus.memories m ON m.id = f.row_id AND m.user_id = p_user_id AND m.app_name = p_app_name
        JOIN hippocampus.embeddings e ON e.user_id = p_user_id AND e.app_name = p_app_name AND e.generation = v_generation
            AND e.source = 'memory' AND e.row_id = f.row_id
        WHERE m.memory_type = 'episodic' AND m.content_hash <> a.content_hash
    ), ranked AS (
        SELECT s.share, g.query, g.near, row_number() OVER (PARTITION BY s.share, g.query
            ORDER BY (1 - s.share) * g.words + s.share * g.similarity DESC, g.row_id) AS rank
        FROM graded g CROSS JOIN (SELECT n / 20.0::double precision AS share FROM generate_series(0, 20) n) s
    ), tried AS (
        SELECT r.share, r.query, count(*) FILTER (WHERE r.near AND r.rank <= 10) AS near, coalesce(1.0 / min(r.rank) FILTER (WHERE r.near), 0) AS reciprocal
        FROM ranked r GROUP BY r.share, r.query
    )
    SELECT t.share, count(*), avg(least(1, t.near / 6.0))::double precision,
        coalesce(stddev_samp(least(1, t.near / 6.0)) / sqrt(count(*)), 0)::double precision, avg(t.reciprocal)::double precision
    FROM tried t GROUP BY t.share ORDER BY t.share;
END
$fn$;
COMMENT ON FUNCTION hippocampus.try_ranking IS
    'How well words and vectors, mixed by the share of the vectors, find the turns that stand near a turn in a user''s own conversations: for the weights text and vector of the setting ranking/MODEL. No row without conversations that have vectors.';
REVOKE ALL ON FUNCTION hippocampus.try_ranking FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.try_ranking
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
