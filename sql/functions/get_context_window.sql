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
    p_now timestamptz DEFAULT now(),
    p_project_anchors text[] DEFAULT NULL
) RETURNS SETOF hippocampus.context_entries
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 100
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_budgets jsonb := hippocampus._context_budgets(p_max_tokens, p_system_ratio, p_memory_ratio, p_history_ratio, p_fact_ratio);
    -- the candidates, in the order of the prompt, the best of a section first; an array a column, since an
    -- array of rows would be copied whole with each change
    v_types text[]; v_contents text[]; v_reasons text[]; v_relevances double precision[];
    v_ordinals integer[]; v_headings integer[]; v_costs integer[]; v_ranks bigint[];
    v_ids uuid[]; v_seqs bigint[]; v_untils bigint[]; v_threads uuid[];
    v_taken boolean[];
    v_open integer[] := '{}'; -- sections whose heading is paid for
    v_section integer := 0;
    v_left integer := p_max_tokens;
    v_room integer := 0; -- what the section may use: its share, and what those before it left
    v_price integer;
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_thread(p_user_id, p_app_name, p_thread_id);
    PERFORM hippocampus._check_one_of('p_language', p_language, ARRAY['en', 'zh']);
    v_price := hippocampus._context_system_price(p_system_prompt, p_system_tokens, (v_budgets ->> 'system')::integer,
        p_max_tokens, p_system_overflow);
    SELECT array_agg(c.context_type), array_agg(c.content), array_agg(c.omitted_reason), array_agg(c.relevance),
        array_agg(c.ordinal), array_agg(c.tokens), array_agg(c.cost), array_agg(c.rank),
        array_agg(c.source_id), array_agg(c.source_seq), array_agg(c.source_until), array_agg(c.source_thread_id), array_agg(false)
    INTO v_types, v_contents, v_reasons, v_relevances, v_ordinals, v_headings, v_costs, v_ranks, v_ids, v_seqs, v_untils, v_threads,
        v_taken
    FROM (
        SELECT k.*, w.ordinal, w.tokens
        FROM (SELECT 'system', 1::bigint, p_system_prompt, 1::float8, v_price, NULL::uuid, NULL::bigint, NULL::bigint, NULL::uuid, NULL::text
              WHERE v_price > 0
              UNION ALL
              SELECT * FROM hippocampus._context_candidates(p_user_id, p_app_name, p_query, p_query_embedding, p_max_tokens,
                  (v_budgets ->> 'history')::integer, p_thread_id, p_now, p_project_anchors)
        ) AS k (context_type, rank, content, relevance, cost, source_id, source_seq, source_until, source_thread_id, omitted_reason)
        JOIN hippocampus._context_words(p_language) w ON w.context_type = k.context_type
        ORDER BY w.ordinal, k.rank
    ) c;
    FOR i IN 1..coalesce(cardinality(v_types), 0) LOOP
        WHILE v_section < v_ordinals[i] LOOP
            v_section := v_section + 1;
            v_room := v_room + coalesce((v_budgets ->> (ARRAY['system', '', '', 'fact', 'memory', 'history'])[v_section])::integer, 0);
        END LOOP;
        v_price := v_costs[i] + CASE WHEN v_section = ANY (v_open) THEN 0 ELSE v_headings[i] END;
        -- the prompt, instructions and blocks are always seen: they may take from any section
        IF v_reasons[i] IS NULL AND v_price <= (CASE WHEN v_section <= 3 THEN v_left ELSE least(v_left, v_room) END) THEN
            v_taken[i] := true;
            v_costs[i] := v_price;
            v_left := v_left - v_price;
            v_room := greatest(0, v_room - v_price);
            IF v_section <> ALL (v_open) THEN v_open := v_open || v_section; END IF;
        END IF;
    END LOOP;
    -- an episode or a summary gives way to the history that tells it whole, but not to one that had no room to
    SELECT array_agg(CASE WHEN e.reason = 'stands in the history' AND h.seq IS NOT NULL
                AND e.until < coalesce(h.gap, 9223372036854775807)
            OR e.reason <> 'stands in the history' THEN e.reason END ORDER BY e.n)
    INTO v_reasons FROM unnest(v_reasons, v_threads, v_seqs, v_untils) WITH ORDINALITY AS e (reason, thread, seq, until, n)
    LEFT JOIN (SELECT g.thread, g.seq, g.taken, min(g.seq) FILTER (WHERE NOT g.taken)
                   OVER (PARTITION BY g.thread ORDER BY g.seq DESC) AS gap -- passed over next
               FROM unnest(v_threads, v_seqs, v_ordinals, v_taken) AS g (thread, seq, ordinal, taken) WHERE g.ordinal = 6) h
        ON h.thread = e.thread AND h.seq = e.seq AND h.taken AND e.reason = 'stands in the history';
    -- once more round with what is left: memories first, then facts, then history
    FOREACH v_section IN ARRAY ARRAY[5, 4, 6] LOOP
        FOR i IN 1..coalesce(cardinality(v_types), 0) LOOP
            CONTINUE WHEN v_ordinals[i] <> v_section OR v_taken[i] OR v_reasons[i] IS NOT NULL;
            v_price := v_costs[i] + CASE WHEN v_section = ANY (v_open) THEN 0 ELSE v_headings[i] END;
            IF v_price <= v_left THEN
                v_taken[i] := true;
                v_costs[i] := v_price;
                v_left := v_left - v_price;
                IF v_section <> ALL (v_open) THEN v_open := v_open || v_section; END IF;
            END IF;
        END LOOP;
    END LOOP;
    RETURN QUERY
    SELECT e.context_type, e.content, e.relevance, e.cost,
        row_number() OVER (ORDER BY NOT e.taken, e.ordinal,
            CASE WHEN e.taken AND e.context_type = 'history' THEN -e.rank ELSE e.rank END)::integer,
        e.taken, CASE WHEN NOT e.taken THEN coalesce(e.omitted_reason, 'over budget') END, e.source_id, e.source_seq, e.source_thread_id
    FROM unnest(v_types, v_contents, v_relevances, v_costs, v_ordinals, v_ranks, v_taken, v_reasons, v_ids, v_seqs, v_threads) AS e
        (context_type, content, relevance, cost, ordinal, rank, taken, omitted_reason, source_id, source_seq, source_thread_id)
    WHERE e.taken OR p_include_omitted
    ORDER BY 5;
END
$fn$;
COMMENT ON FUNCTION hippocampus.get_context_window IS
    'Assembles what an agent should see, within p_max_tokens, headings included: system prompt, instructions, memory blocks, facts, relevant memories, newest history (of p_thread_id, or of all threads), in this order. Shares of the budget: system 0.1, memory 0.3, history 0.5, facts the rest; what one leaves the next may use. token_estimate never under-counts. p_include_omitted adds what was left out and why (included = false). p_project_anchors asks for the anchor index: chunks of documents then stand among the memories, marked as a document''s, with their path and line. A system prompt over its share is HC010, unless p_system_overflow lets it take from the others. Print with format_context, in the same p_language.';
REVOKE ALL ON FUNCTION hippocampus.get_context_window FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.get_context_window
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
