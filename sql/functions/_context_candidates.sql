-- All that could stand in a window, section by section, best first, each as the text that would be printed and
-- the tokens it would cost. Choosing is get_context_window's.
CREATE OR REPLACE FUNCTION hippocampus._context_candidates(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_query_embedding public.vector,
    p_max_tokens integer,
    p_history_budget integer,
    p_thread_id uuid,
    p_now timestamptz
) RETURNS TABLE (context_type text, rank bigint, content text, relevance double precision, cost integer,
    source_id uuid, source_seq bigint, source_thread_id uuid, omitted_reason text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 200
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_memories integer := least(10000, greatest(20, p_max_tokens / 24));
    v_oldest bigint; -- the first event that the thread's history will surely show
BEGIN
    RETURN QUERY
    SELECT 'instruction', row_number() OVER (ORDER BY i.instruction_key), hippocampus._context_line('', i.content), 1::float8,
        hippocampus._context_cost(i.token_count, 2, i.content), NULL::uuid, i.version::bigint, NULL::uuid, NULL::text
    FROM (SELECT DISTINCT ON (r.instruction_key) r.* FROM hippocampus.instructions r
          WHERE r.app_name = p_app_name ORDER BY r.instruction_key, r.version DESC) i;
    RETURN QUERY
    SELECT 'block', row_number() OVER (ORDER BY b.key), hippocampus._context_line('', b.key || ': ' || b.value), 1::float8,
        hippocampus._context_cost(b.token_count, 4 + octet_length(b.key), b.key || b.value),
        NULL::uuid, b.version, NULL::uuid, NULL::text
    FROM hippocampus.memory_blocks b
    WHERE b.user_id = p_user_id AND b.app_name = p_app_name AND b.value <> '';
    RETURN QUERY
    SELECT 'fact', row_number() OVER (ORDER BY s.score DESC, f.confidence DESC, f.key),
        hippocampus._context_line('- ', hippocampus._fact_text(f.key, f.value)), s.score,
        hippocampus._context_cost(f.token_count, 3, hippocampus._fact_text(f.key, f.value)),
        f.id, NULL::bigint, f.thread_id, NULL::text
    FROM hippocampus.facts f
    LEFT JOIN (SELECT h.row_id, h.bm25 / max(h.bm25) OVER () AS bm25
               FROM hippocampus._text_hits(p_user_id, p_app_name, 'fact', coalesce(p_query, '')) h) w ON w.row_id = f.id
    CROSS JOIN LATERAL (SELECT 0.5 * coalesce(w.bm25, 0) + 0.5 * f.confidence AS score) s
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.valid_until IS NULL;
    IF p_thread_id IS NOT NULL THEN
        SELECT min(e.sequence_num) INTO v_oldest FROM (
            SELECT r.sequence_num, sum(hippocampus._context_cost(r.token_count, 1, r.text)) OVER (ORDER BY r.sequence_num DESC) AS total
            FROM (SELECT * FROM hippocampus.events h WHERE h.thread_id = p_thread_id AND h.user_id = p_user_id
                  AND h.app_name = p_app_name ORDER BY h.sequence_num DESC LIMIT greatest(1, p_history_budget / 4)) r) e
        WHERE e.total <= p_history_budget;
    END IF;
    RETURN QUERY
    SELECT 'memory', row_number() OVER (ORDER BY m.score DESC, m.occurred_until DESC, m.memory_id),
        hippocampus._context_line('- [' || to_char(m.occurred_from AT TIME ZONE 'UTC', 'YYYY-MM-DD') || '] ', m.content), m.score,
        hippocampus._context_cost(m.token_count, 13, m.content),
        m.memory_id, m.from_seq, m.thread_id,
        CASE WHEN m.thread_id = p_thread_id AND m.from_seq >= v_oldest AND m.memory_type = 'episodic' THEN 'stands in the history'
             WHEN row_number() OVER (PARTITION BY m.content_hash ORDER BY m.score DESC, m.memory_id) > 1 THEN 'same words as another memory'
        END
    FROM hippocampus.search_memory(p_user_id, p_app_name, p_query, p_query_embedding, v_memories, p_now => p_now) m;
    RETURN QUERY
    SELECT 'history', row_number() OVER (ORDER BY e.created_at DESC, e.thread_id DESC, e.sequence_num DESC),
        hippocampus._context_line('', e.author || ': ' || e.text), 1::float8,
        hippocampus._context_cost(e.token_count, 1, e.text), e.id, e.sequence_num, e.thread_id, NULL::text
    FROM (
        (SELECT * FROM hippocampus.events r
         WHERE p_thread_id IS NOT NULL AND r.thread_id = p_thread_id AND r.user_id = p_user_id AND r.app_name = p_app_name
         ORDER BY r.sequence_num DESC LIMIT greatest(1, p_max_tokens / 4))
        UNION ALL
        (SELECT * FROM hippocampus.events r
         WHERE p_thread_id IS NULL AND r.user_id = p_user_id AND r.app_name = p_app_name
         ORDER BY r.created_at DESC LIMIT greatest(1, p_max_tokens / 4))
    ) e
    WHERE e.text <> '';
END
$fn$;
COMMENT ON FUNCTION hippocampus._context_candidates IS
    'What could stand in a context window: instructions, blocks, facts, memories, history, each ranked within its section and priced in tokens.';
REVOKE ALL ON FUNCTION hippocampus._context_candidates FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._context_candidates
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
