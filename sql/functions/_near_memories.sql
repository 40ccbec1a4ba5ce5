-- Pairs of a user's memories that are near in meaning: of each of those given, its five nearest. With a type, among
-- memories of that type only: five others that are nearer take no place.
CREATE OR REPLACE FUNCTION hippocampus._near_memories(
    p_user_id text,
    p_app_name text,
    p_ids uuid[],
    p_similarity double precision,
    p_memory_type text DEFAULT NULL
) RETURNS TABLE (memory_id uuid, near_id uuid, similarity double precision)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 100
BEGIN ATOMIC
    SELECT m.id, n.row_id, n.similarity
    FROM (SELECT k.id FROM hippocampus.memories k
          WHERE k.id = ANY (p_ids) AND k.user_id = p_user_id AND k.app_name = p_app_name AND k.superseded_by IS NULL
            AND k.memory_type <> 'summary' AND (p_memory_type IS NULL OR k.memory_type = p_memory_type)) m
    JOIN hippocampus.embedding_models g ON g.status = 'serving'
    JOIN hippocampus.embeddings e ON e.user_id = p_user_id AND e.app_name = p_app_name AND e.generation = g.generation
        AND e.source = 'memory' AND e.row_id = m.id
    CROSS JOIN LATERAL (
        SELECT o.row_id, -(o.embedding OPERATOR(public.<#>) e.embedding) AS similarity
        FROM hippocampus.embeddings o
        JOIN hippocampus.memories k ON k.id = o.row_id AND k.user_id = p_user_id AND k.app_name = p_app_name
        WHERE o.user_id = p_user_id AND o.app_name = p_app_name AND o.generation = g.generation AND o.source = 'memory'
          AND o.row_id <> m.id AND k.superseded_by IS NULL AND k.memory_type <> 'summary'
          AND (p_memory_type IS NULL OR k.memory_type = p_memory_type)
        ORDER BY o.embedding OPERATOR(public.<#>) e.embedding, o.row_id LIMIT 5) n
    WHERE n.similarity >= p_similarity;
END;
COMMENT ON FUNCTION hippocampus._near_memories IS 'Of each of some memories of a user, up to five that are near in meaning.';
REVOKE ALL ON FUNCTION hippocampus._near_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._near_memories
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
