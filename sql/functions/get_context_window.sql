-- Assembles a context window that never exceeds its budget, headings included. Sections are filled in the
-- order of the prompt, best entries first, whole entries only; one that does not fit is passed over, not the
-- rest with it. What a section leaves, the next may use; what is left at the end goes round once more.
CREATE OR REPLACE FUNCTION hippocampus.get_context_window(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_query_embedding public.vector DEFAULT NULL,
    p_max_tokens integer DEFAULT 4000,
    p_memory_ratio double precision DEFAULT 0.3,
    p_history_ratio double precision DEFAULT 0.5,
    p_thread_id uuid DEFAULT NULL,
    p_system_prompt text DEFAULT NULL,
    p_system_tokens integer DEFAULT NULL,
    p_system_ratio double precision DEFAULT 0.1,
    p_fact_ratio double precision DEFAULT NULL,
    p_system_overflow boolean DEFAULT false,
    p_include_omitted boolean DEFAULT false,
    p_language text DEFAULT 'en',
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.context_entries
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 100
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_budgets jsonb := hippocampus._context_budgets(p_max_tokens, p_system_ratio, p_memory_ratio, p_history_ratio, p_fact_ratio);
    v_headings jsonb := (SELECT jsonb_object_agg(w.context_type, w.tokens) FROM hippocampus._context_words(p_language) w);
    v_ordinals jsonb := (SELECT jsonb_object_agg(w.context_type, w.ordinal) FROM hippocampus._context_words(p_language) w);
    v_item record;
    v_entries hippocampus.context_entries[] := '{}';
    v_costs integer[] := '{}';
    v_ranks bigint[] := '{}';
    v_taken boolean[] := '{}';
    v_section text := '';
    v_open text[] := '{}'; -- sections whose heading is paid for
    v_left integer := p_max_tokens;
    v_room integer := 0;
    v_price integer;
    i integer := 0;
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_one_of('p_language', p_language, ARRAY['en', 'zh']);
    v_price := hippocampus._context_system_price(p_system_prompt, p_system_tokens, (v_budgets ->> 'system')::integer,
        p_max_tokens, p_system_overflow);
    v_left := v_left - v_price;
    v_room := greatest(0, (v_budgets ->> 'system')::integer - v_price);
    IF v_price > 0 THEN
        v_entries := v_entries || ROW ('system', p_system_prompt, 1, v_price, 0, true, NULL, NULL, NULL, NULL)::hippocampus.context_entries;
        v_costs := v_costs || v_price; v_ranks := v_ranks || 1::bigint; v_taken := v_taken || true; i := 1;
    END IF;
    FOR v_item IN
        SELECT c.* FROM hippocampus._context_candidates(p_user_id, p_app_name, p_query, p_query_embedding, p_max_tokens,
            (v_budgets ->> 'history')::integer, p_thread_id, p_now) c
        ORDER BY (v_ordinals ->> c.context_type)::integer, c.rank
    LOOP
        IF v_item.context_type <> v_section THEN
            v_section := v_item.context_type;
            v_room := v_room + coalesce((v_budgets ->> v_section)::integer, 0);
        END IF;
        i := i + 1;
        v_price := v_item.cost + CASE WHEN v_section = ANY (v_open) THEN 0 ELSE (v_headings ->> v_section)::integer END;
        -- instructions and blocks are always seen: they may take from any section
        v_taken[i] := v_item.omitted_reason IS NULL
            AND v_price <= CASE WHEN v_section IN ('instruction', 'block') THEN v_left ELSE least(v_left, v_room) END;
        IF v_taken[i] THEN
            v_left := v_left - v_price;
            v_room := greatest(0, v_room - v_price);
            v_open := v_open || v_section;
        END IF;
        v_costs[i] := v_item.cost;
        v_ranks[i] := v_item.rank;
        v_entries[i] := ROW (v_section, v_item.content, v_item.relevance, v_price, 0, v_taken[i], v_item.omitted_reason,
            v_item.source_id, v_item.source_seq, v_item.source_thread_id);
    END LOOP;
    -- once more round with what is left: memories first, then facts, then history
    FOREACH v_section IN ARRAY ARRAY['memory', 'fact', 'history'] LOOP
        FOR i IN 1..cardinality(v_entries) LOOP
            CONTINUE WHEN v_taken[i] OR (v_entries[i]).context_type <> v_section OR (v_entries[i]).omitted_reason IS NOT NULL;
            v_price := v_costs[i] + CASE WHEN v_section = ANY (v_open) THEN 0 ELSE (v_headings ->> v_section)::integer END;
            IF v_price <= v_left THEN
                v_taken[i] := true;
                v_left := v_left - v_price;
                v_open := v_open || v_section;
                v_entries[i] := ROW (v_section, (v_entries[i]).content, (v_entries[i]).relevance_score, v_price, 0, true, NULL,
                    (v_entries[i]).source_id, (v_entries[i]).source_seq, (v_entries[i]).source_thread_id);
            END IF;
        END LOOP;
    END LOOP;
    RETURN QUERY
    SELECT e.context_type, e.content, e.relevance_score, e.token_estimate,
        row_number() OVER (ORDER BY NOT t.taken, (v_ordinals ->> e.context_type)::integer,
            CASE WHEN e.context_type = 'history' THEN -r.rank ELSE r.rank END)::integer,
        t.taken, CASE WHEN NOT t.taken THEN coalesce(e.omitted_reason, 'over budget') END,
        e.source_id, e.source_seq, e.source_thread_id
    FROM unnest(v_entries) WITH ORDINALITY AS e
        (context_type, content, relevance_score, token_estimate, position, included, omitted_reason, source_id, source_seq,
         source_thread_id, n)
    JOIN unnest(v_taken) WITH ORDINALITY AS t (taken, n) ON t.n = e.n
    JOIN unnest(v_ranks) WITH ORDINALITY AS r (rank, n) ON r.n = e.n
    WHERE t.taken OR p_include_omitted
    ORDER BY 5;
END
$fn$;
COMMENT ON FUNCTION hippocampus.get_context_window IS
    'Assembles what an agent should see, within p_max_tokens, headings included: system prompt, instructions, memory blocks, facts, relevant memories, newest history (of p_thread_id, or of all threads), in this order. Shares of the budget: system 0.1, memory 0.3, history 0.5, facts the rest; what one leaves the next may use. token_estimate never under-counts. p_include_omitted adds what was left out and why (included = false). A system prompt over its share is HC010, unless p_system_overflow lets it take from the others. Print with format_context.';
REVOKE ALL ON FUNCTION hippocampus.get_context_window FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.get_context_window
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
