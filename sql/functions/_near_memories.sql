-- Pairs of a user's memories that are near in meaning: of each of those given, its five nearest among the hundred that
-- a search by its vector finds. With a type, of these those of that type only: others that are nearer take no place.
-- By the search's own ways, since with a look at all vectors for each memory a large user's sleep would take hours.
-- Not for parallel queries, see _vector_hits.
CREATE OR REPLACE FUNCTION hippocampus._near_memories(
    p_user_id text,
    p_app_name text,
    p_ids uuid[],
    p_similarity double precision,
    p_memory_type text DEFAULT NULL
) RETURNS TABLE (memory_id uuid, near_id uuid, similarity double precision)
LANGUAGE sql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 100
BEGIN ATOMIC
    SELECT m.id, n.row_id, n.similarity
    FROM unnest(p_ids) AS i (id)
    CROSS JOIN hippocampus._query_generation(NULL) g
    CROSS JOIN LATERAL hippocampus._memory_row(p_user_id, p_app_name, i.id) m
    CROSS JOIN LATERAL ( -- LIMIT: see _memory_row
        SELECT e.embedding FROM hippocampus.embeddings e
        WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND e.generation = g.generation AND e.source = 'memory'
          AND e.row_id = i.id LIMIT 1) e
    CROSS JOIN LATERAL (
        SELECT v.row_id, v.similarity
        FROM hippocampus._vector_hits(p_user_id, p_app_name, 'memory', e.embedding::public.vector, 100) v
        CROSS JOIN LATERAL hippocampus._memory_row(p_user_id, p_app_name, v.row_id) k
        WHERE v.row_id <> m.id AND v.similarity >= p_similarity AND k.superseded_by IS NULL AND k.memory_type <> 'summary'
          AND (p_memory_type IS NULL OR k.memory_type = p_memory_type)
        ORDER BY v.similarity DESC, v.row_id LIMIT 5) n
    WHERE m.superseded_by IS NULL AND m.memory_type <> 'summary' AND (p_memory_type IS NULL OR m.memory_type = p_memory_type);
END;
COMMENT ON FUNCTION hippocampus._near_memories IS 'Of each of some memories of a user, up to five that are near in meaning.';
REVOKE ALL ON FUNCTION hippocampus._near_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._near_memories
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
