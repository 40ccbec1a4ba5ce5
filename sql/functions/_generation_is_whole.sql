-- Whether searches may rely on a generation of embeddings: one that serves or did; one that is building when every row
-- that was there has its vector. That they are all queued says nothing: they may have been a moment ago. A bound
-- login sees its own rows, and its own are what it searches.
CREATE OR REPLACE FUNCTION hippocampus._generation_is_whole(
    p_generation integer
) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT coalesce((
        SELECT g.status IN ('serving', 'standby') OR g.status = 'building' AND g.queued_at IS NOT NULL AND NOT EXISTS (
            SELECT FROM hippocampus.embedding_queue q WHERE q.generation = g.generation AND q.queued_at <= g.queued_at)
        FROM hippocampus.embedding_models g WHERE g.generation = p_generation), false);
END;
COMMENT ON FUNCTION hippocampus._generation_is_whole IS
    'Whether a generation of embeddings has a vector of each row that was there when it began; of the rows that the login sees.';
REVOKE ALL ON FUNCTION hippocampus._generation_is_whole FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._generation_is_whole
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
