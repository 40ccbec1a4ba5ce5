-- The rows whose vectors a generation lacks too sorely to serve: that were there when the last was queued, that failed,
-- or that have waited for over a minute; or for ten seconds, and would lose the vector by which they are found now. A row
-- that was just written is found by its words meanwhile: where much is written there is always one.
CREATE OR REPLACE FUNCTION hippocampus._lacking_rows(
    p_generation integer,
    p_now timestamptz
) RETURNS SETOF hippocampus.embedding_queue
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 100
BEGIN ATOMIC
    SELECT q.* FROM hippocampus.embedding_queue q
    JOIN hippocampus.embedding_models g ON g.generation = q.generation
    WHERE q.generation = p_generation AND (q.error IS NOT NULL OR q.queued_at <= g.queued_at OR q.queued_at < p_now - interval '1 minute'
        OR q.queued_at < p_now - interval '10 seconds' AND EXISTS (
            SELECT FROM hippocampus.embeddings e
            WHERE e.user_id = q.user_id AND e.app_name = q.app_name AND e.source = q.source AND e.row_id = q.row_id
              AND e.generation = (SELECT s.generation FROM hippocampus.embedding_models s WHERE s.status = 'serving')));
END;
COMMENT ON FUNCTION hippocampus._lacking_rows IS 'The rows on embedding_queue that keep a generation of embeddings from serving.';
REVOKE ALL ON FUNCTION hippocampus._lacking_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._lacking_rows TO hippocampus_worker;
