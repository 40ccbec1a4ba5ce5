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
    p_now timestamptz,
    p_project_anchors text[] DEFAULT NULL
) RETURNS TABLE (context_type text, rank bigint, content text, relevance double precision, cost integer,
    source_id uuid, source_seq bigint, source_until bigint, source_thread_id uuid, omitted_reason text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 200
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_told_threads uuid[] := '{}'; -- the events that the history will surely show
    v_told_seqs bigint[] := '{}';
    v_room integer := p_history_budget;
    v_event record;
    v_history hippocampus.context_lines[];
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
    RETURN QUERY SELECT * FROM hippocampus._context_facts(p_user_id, p_app_name, p_query, p_max_tokens, p_now);
    SELECT coalesce(array_agg(h ORDER BY h.rank), '{}') INTO v_history
    FROM hippocampus._context_history(p_user_id, p_app_name, p_max_tokens, p_thread_id) h;
    FOR v_event IN SELECT h.thread_id, h.sequence_num, h.cost FROM unnest(v_history) h ORDER BY h.rank LOOP
        IF v_event.cost <= v_room THEN
            v_told_threads := v_told_threads || v_event.thread_id;
            v_told_seqs := v_told_seqs || v_event.sequence_num;
            v_room := v_room - v_event.cost;
        END IF;
    END LOOP;
    RETURN QUERY SELECT * FROM hippocampus._context_memories(p_user_id, p_app_name, p_query, p_query_embedding, p_max_tokens,
        p_max_tokens - p_history_budget + v_room, v_told_threads, v_told_seqs, p_now, p_project_anchors); -- all but what the history fills of its share
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
