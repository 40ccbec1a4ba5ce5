-- The generations of embeddings and how far each is, newest first. Counts every vector: for an operator, not for
-- every minute of a large database.
CREATE OR REPLACE FUNCTION hippocampus.list_embedding_generations()
RETURNS SETOF hippocampus.embedding_generations
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 3
BEGIN ATOMIC
    SELECT g.generation, g.dimension, g.status, coalesce(g.model, ''), g.created_at, g.queued_at,
        (SELECT count(*) FROM hippocampus.memories m WHERE m.superseded_by IS NULL) + (SELECT count(*) FROM hippocampus.facts)
            + (SELECT count(*) FROM hippocampus.chunks) + (SELECT count(*) FROM hippocampus.anchors)
            + (SELECT count(*) FROM hippocampus.store_items s WHERE s.text <> ''),
        coalesce(v.vectors, 0), coalesce(q.waiting, 0), coalesce(q.failed, 0)
    FROM hippocampus.embedding_models g
    LEFT JOIN (SELECT e.generation, count(*) AS vectors FROM hippocampus.embeddings e GROUP BY e.generation) v
        ON v.generation = g.generation
    LEFT JOIN (SELECT w.generation, count(*) AS waiting, count(*) FILTER (WHERE w.error IS NOT NULL) AS failed
               FROM hippocampus.embedding_queue w GROUP BY w.generation) q
        ON q.generation = g.generation
    ORDER BY g.generation DESC;
END;
COMMENT ON FUNCTION hippocampus.list_embedding_generations IS
    'The generations of embeddings, newest first: status, model, dimension, and how many of the rows have a vector of it, wait for one, or failed.';
REVOKE ALL ON FUNCTION hippocampus.list_embedding_generations FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.list_embedding_generations TO hippocampus_worker;
