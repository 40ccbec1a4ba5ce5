-- The memories that a window could show, as many as there can be room for. The newest tell how long they are; where
-- those that are found are shorter and leave room, more are asked for. p_told_threads and p_told_seqs are the events that
-- the history will surely show: what retells these takes no room. Where anchors are asked for, chunks of documents
-- stand among them.
CREATE OR REPLACE FUNCTION hippocampus._context_memories(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_query_embedding public.vector,
    p_max_tokens integer,
    p_room integer,
    p_told_threads uuid[],
    p_told_seqs bigint[],
    p_now timestamptz,
    p_project_anchors text[] DEFAULT NULL
) RETURNS TABLE (context_type text, rank bigint, content text, relevance double precision, cost integer,
    source_id uuid, source_seq bigint, source_until bigint, source_thread_id uuid, omitted_reason text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 100
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_memories hippocampus.memory_hits[];
    v_limit integer;
    v_found bigint;
    v_filled bigint;
BEGIN
    SELECT least(10000, greatest(20, 1.2 * p_room / avg(n.token_count + 11)))::integer INTO v_limit
    FROM (SELECT m.token_count FROM hippocampus.memories m WHERE m.user_id = p_user_id AND m.app_name = p_app_name
          ORDER BY m.created_at DESC, m.id DESC LIMIT 30) n;
    LOOP
        SELECT array_agg(m), count(*), coalesce(sum(m.token_count + 11) FILTER (WHERE m.token_count <= p_max_tokens AND m.copy = 1
            AND NOT m.told), 0)
        INTO v_memories, v_found, v_filled
        FROM (SELECT k, k.token_count, row_number() OVER (PARTITION BY k.content_hash) AS copy,
                  (k.memory_type <> 'semantic' AND (k.thread_id, k.from_seq) IN (SELECT * FROM unnest(p_told_threads, p_told_seqs))) IS TRUE AS told
              FROM hippocampus.search_memory(p_user_id, p_app_name, p_query, p_query_embedding, v_limit, p_now => p_now,
                  p_project_anchors => p_project_anchors) k) m (m, token_count, copy, told);
        EXIT WHEN v_found < v_limit OR v_limit = 10000 OR v_filled >= p_room;
        v_limit := least(10000, 3 * v_limit);
    END LOOP;
    RETURN QUERY
    SELECT 'memory', row_number() OVER (ORDER BY t.score DESC, t.rank), t.line, t.score, t.cost, t.id, t.from_seq, t.to_seq, t.thread_id, t.reason
    FROM (SELECT r.rank,
        hippocampus._context_line('- [' || coalesce(to_char(r.occurred_from AT TIME ZONE 'UTC', 'YYYY-MM-DD'), '?')
            || CASE r.trust WHEN 'user' THEN '' ELSE ', ' || r.trust END || '] ', r.content) AS line,
        r.score, hippocampus._context_price(r.token_count, CASE r.trust WHEN 'user' THEN 11 ELSE 14 END, r.content, true) AS cost, r.memory_id AS id, r.from_seq, r.to_seq, r.thread_id,
        CASE WHEN r.memory_type <> 'semantic' AND (r.thread_id, r.from_seq) IN (SELECT * FROM unnest(p_told_threads, p_told_seqs)) THEN 'stands in the history'
             WHEN r.copy > 1 THEN 'same words as another memory' END AS reason
    FROM (SELECT m.*, row_number() OVER best AS rank,
              row_number() OVER (PARTITION BY m.content_hash ORDER BY m.score DESC, m.memory_id) AS copy
          FROM unnest(v_memories) m
          WINDOW best AS (ORDER BY m.score DESC, m.occurred_until DESC, m.memory_id)) r
        UNION ALL
        SELECT 10000 + c.rank, c.line, c.score, c.cost, c.id, NULL, NULL, NULL, NULL
        FROM hippocampus._context_chunks(p_user_id, p_app_name, p_query, p_query_embedding, p_project_anchors) c) t;
END
$fn$;
COMMENT ON FUNCTION hippocampus._context_memories IS 'The memories that a window could show, best first, with the tokens that each costs at most.';
REVOKE ALL ON FUNCTION hippocampus._context_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._context_memories
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
