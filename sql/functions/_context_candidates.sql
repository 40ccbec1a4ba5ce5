-- All that could stand in a window, section by section, best first, each as the text that would be printed and
-- the tokens it would cost. Choosing is get_context_window's. A section's candidates end where those before
-- them would fill the whole window: whatever is chosen, there's no room for more.
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
    source_id uuid, source_seq bigint, source_until bigint, source_thread_id uuid, omitted_reason text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 200
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_rows integer := greatest(20, p_max_tokens / 4); -- an entry has four tokens at least
    v_told bigint[] := '{}'; -- the events that the thread's history will surely show
    v_room integer := p_history_budget;
    v_event record;
    v_history hippocampus.context_lines[];
    v_memories hippocampus.memory_hits[];
    v_limit integer;
    v_found bigint;
    v_filled bigint;
BEGIN
    RETURN QUERY
    SELECT 'instruction', row_number() OVER (ORDER BY i.instruction_key), hippocampus._context_line('', i.content), 1::float8,
        hippocampus._context_price(i.token_count, 2, i.content, false), NULL::uuid, i.version::bigint, NULL::bigint, NULL::uuid, NULL::text
    FROM (SELECT DISTINCT ON (r.instruction_key) r.* FROM hippocampus.instructions r
          WHERE r.app_name = p_app_name ORDER BY r.instruction_key, r.version DESC) i
    WHERE i.restores IS DISTINCT FROM 0; -- not one that was withdrawn
    RETURN QUERY
    SELECT 'block', row_number() OVER (ORDER BY b.key), hippocampus._context_line('', b.key || ': ' || b.value), 1::float8,
        hippocampus._context_price(b.token_count, 3 + octet_length(hippocampus._context_line('', b.key)), b.value, true),
        NULL::uuid, b.version, NULL::bigint, NULL::uuid, NULL::text
    FROM hippocampus.memory_blocks b
    WHERE b.user_id = p_user_id AND b.app_name = p_app_name AND b.value <> '';
    RETURN QUERY
    SELECT 'fact', r.rank, hippocampus._context_line(t.mark, t.text), r.score,
        hippocampus._context_price(r.token_count, CASE t.mark WHEN '- ' THEN 2 ELSE 6 END, t.text, true), r.id, NULL::bigint, NULL::bigint, r.thread_id, NULL::text
    FROM (SELECT f.id, f.thread_id, f.token_count, f.key, f.value, f.trust, f.score,
              row_number() OVER best AS rank, sum(f.token_count + 5) FILTER (WHERE f.token_count <= p_max_tokens)
                  OVER (best ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
          FROM (SELECT k.*, 0.5 * coalesce(h.own / max(h.own) OVER (), 0) + 0.5 * k.confidence AS score -- of those that hold
                FROM hippocampus.facts_as_of(p_user_id, p_app_name, p_now) k
                LEFT JOIN hippocampus._evidence(p_user_id, p_app_name, 'fact',
                    hippocampus._query_terms(p_app_name, p_query), NULL) h ON h.row_id = k.id) f
          -- where there is room for few: what is told strongly, then what is new, and by name only at last
          WINDOW best AS (ORDER BY f.score DESC, f.confidence DESC, f.running_intensity DESC, f.valid_from DESC, f.key, f.fact_type)) r
    CROSS JOIN LATERAL (SELECT f.text, CASE WHEN r.trust = 'user' AND f.text !~ '^[\[［【]' THEN '- ' -- no key looks like a mark
            ELSE '- [' || r.trust || '] ' END AS mark FROM hippocampus._fact_text(r.key, r.value) AS f (text)) t
    WHERE coalesce(r.before, 0) <= p_max_tokens AND r.rank <= v_rows;
    SELECT coalesce(array_agg(h ORDER BY h.rank), '{}') INTO v_history
    FROM hippocampus._context_history(p_user_id, p_app_name, p_max_tokens, p_thread_id) h;
    FOR v_event IN SELECT h.sequence_num, h.cost FROM unnest(v_history) h ORDER BY h.rank LOOP
        IF v_event.cost <= v_room THEN
            v_told := v_told || v_event.sequence_num;
            v_room := v_room - v_event.cost;
        END IF;
    END LOOP;
    -- as many memories as there can be room for: all but what the history fills of its share. The newest tell
    -- how long they are; where those that are found are shorter and leave room, more are asked for.
    v_room := p_max_tokens - p_history_budget + v_room;
    SELECT least(10000, greatest(20, 1.2 * v_room / avg(n.token_count + 11)))::integer INTO v_limit
    FROM (SELECT m.token_count FROM hippocampus.memories m WHERE m.user_id = p_user_id AND m.app_name = p_app_name
          ORDER BY m.created_at DESC, m.id DESC LIMIT 30) n;
    LOOP
        SELECT array_agg(m), count(*), coalesce(sum(m.token_count + 11) FILTER (WHERE m.token_count <= p_max_tokens AND m.copy = 1
            AND NOT m.told), 0)
        INTO v_memories, v_found, v_filled
        FROM (SELECT k, k.token_count, row_number() OVER (PARTITION BY k.content_hash) AS copy,
                  coalesce(k.thread_id = p_thread_id AND k.from_seq = ANY (v_told), false) AS told
              FROM hippocampus.search_memory(p_user_id, p_app_name, p_query, p_query_embedding, v_limit, p_now => p_now) k) m (m, token_count, copy, told);
        EXIT WHEN v_found < v_limit OR v_limit = 10000 OR v_filled >= v_room;
        v_limit := least(10000, 3 * v_limit);
    END LOOP;
    RETURN QUERY
    SELECT 'memory', r.rank,
        hippocampus._context_line('- [' || coalesce(to_char(r.occurred_from AT TIME ZONE 'UTC', 'YYYY-MM-DD'), '?')
            || CASE r.trust WHEN 'user' THEN '' ELSE ', ' || r.trust END || '] ', r.content),
        r.score, hippocampus._context_price(r.token_count, CASE r.trust WHEN 'user' THEN 11 ELSE 14 END, r.content, true), r.memory_id, r.from_seq, r.to_seq, r.thread_id,
        CASE WHEN r.thread_id = p_thread_id AND r.from_seq = ANY (v_told) AND r.memory_type = 'episodic' THEN 'stands in the history'
             WHEN r.copy > 1 THEN 'same words as another memory' END
    FROM (SELECT m.*, row_number() OVER best AS rank,
              row_number() OVER (PARTITION BY m.content_hash ORDER BY m.score DESC, m.memory_id) AS copy
          FROM unnest(v_memories) m
          WINDOW best AS (ORDER BY m.score DESC, m.occurred_until DESC, m.memory_id)) r;
    RETURN QUERY
    SELECT 'history', h.rank, hippocampus._context_line('', h.line), 1::float8, h.cost, h.id, h.sequence_num, h.sequence_num, h.thread_id, NULL::text
    FROM unnest(v_history) h;
END
$fn$;
COMMENT ON FUNCTION hippocampus._context_candidates IS
    'What could stand in a context window: instructions, blocks, facts, memories, history, each ranked within its section and priced in tokens.';
REVOKE ALL ON FUNCTION hippocampus._context_candidates FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._context_candidates
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
