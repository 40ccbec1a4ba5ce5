-- How far a generation of embeddings is, by what is cheap to read: the queue, which is kept short, and not the vectors. A
-- row is tried within moments that has not failed, or failed fewer than five times and whose next try is due in 20
-- seconds, as where an embedder asked for patience.
CREATE OR REPLACE FUNCTION hippocampus.embedding_progress(
    p_generation integer,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.embedding_progresses
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_time('p_now', p_now);
    RETURN QUERY
    SELECT g.generation, g.status, g.queued_at, g.looked,
        (SELECT count(*) FROM hippocampus.embedding_queue q WHERE q.generation = g.generation), l.lacking, l.tried
    FROM hippocampus.embedding_models g
    CROSS JOIN LATERAL (
        SELECT count(*) AS lacking,
            count(*) FILTER (WHERE r.error IS NULL OR r.attempts < 5 AND r.run_after < p_now + interval '20 seconds') AS tried
        FROM hippocampus._lacking_rows(g.generation, p_now) r) l
    WHERE g.generation = p_generation;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no generation % of embeddings', coalesce(p_generation::text, 'null')
            USING ERRCODE = 'HC011', HINT = 'See hippocampus.embedding_models.';
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus.embedding_progress IS
    'How far a generation of embeddings is: rows that were walked through, that wait, that keep it from serving (lacking), and of those the ones that are tried within moments. Whole when queued_at is set and lacking is 0. Cheap, unlike list_embedding_generations. Raises HC011 for one that is not there.';
REVOKE ALL ON FUNCTION hippocampus.embedding_progress FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.embedding_progress TO hippocampus_worker;
