-- Gives shared memories the vectors that came after they were shared, or of another model since. Rows that
-- somebody holds are left for the next call.
CREATE OR REPLACE FUNCTION hippocampus.refresh_shared_memories(
    p_limit integer DEFAULT 1000
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_count integer;
BEGIN
    PERFORM hippocampus._check_range('p_limit', p_limit, 1, 1000000);
    WITH stale AS (
        SELECT s.memory_id, s.user_id, s.app_name, e.generation, e.embedding
        FROM hippocampus.embedding_models g
        JOIN hippocampus.shared_memories s ON s.generation IS DISTINCT FROM g.generation
        JOIN hippocampus.embeddings e ON e.user_id = s.user_id AND e.app_name = s.app_name AND e.generation = g.generation
            AND e.source = 'memory' AND e.row_id = s.memory_id
        WHERE g.status = 'serving'
        ORDER BY s.memory_id LIMIT p_limit FOR NO KEY UPDATE OF s SKIP LOCKED
    )
    UPDATE hippocampus.shared_memories s SET generation = t.generation, embedding = t.embedding
    FROM stale t WHERE s.memory_id = t.memory_id AND s.user_id = t.user_id AND s.app_name = t.app_name;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$fn$;
COMMENT ON FUNCTION hippocampus.refresh_shared_memories IS
    'Gives shared memories the vectors that came since they were shared; at most p_limit. Returns how many. A worker calls it every so often.';
REVOKE ALL ON FUNCTION hippocampus.refresh_shared_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.refresh_shared_memories TO hippocampus_worker;
