-- The memories that a task or a message brings to mind, as one block for a prompt: fenced, escaped, each with its
-- date, whose words it holds where they are not the user's, and its domain. Never over the budget, and never a memory
-- in part: the best first, one that does not fit is passed over. Nothing is found: no row.
CREATE OR REPLACE FUNCTION hippocampus.recall_block(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_query_embedding public.vector DEFAULT NULL,
    p_max_tokens integer DEFAULT 1000,
    p_limit integer DEFAULT 3,
    p_min_relevance double precision DEFAULT 0,
    p_language text DEFAULT 'en',
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.recall_blocks
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_notice record;
    v_words record;
    v_tokens integer;
    v_lines text[] := '{}';
    v_ids uuid[] := '{}';
    v_hit record;
BEGIN
    PERFORM hippocampus._check_range('p_max_tokens', p_max_tokens, 0, 10000000, 'HC007');
    PERFORM hippocampus._check_range('p_limit', p_limit, 1, 1000);
    PERFORM hippocampus._check_one_of('p_language', p_language, ARRAY['en', 'zh']);
    SELECT n.* INTO v_notice FROM hippocampus._recall_notice(p_language) n;
    SELECT w.* INTO v_words FROM hippocampus._context_words(p_language) w WHERE w.context_type = 'memory';
    v_tokens := v_notice.tokens;
    FOR v_hit IN
        SELECT m.memory_id, hippocampus._context_line(
                '- [' || coalesce(to_char(m.occurred_from AT TIME ZONE 'UTC', 'YYYY-MM-DD'), '?')
                    || CASE m.trust WHEN 'user' THEN '' ELSE ', ' || m.trust END || '] ', m.content || d.source) AS line,
            -- no text has more tokens than bytes
            hippocampus._context_price(m.token_count, 14 + octet_length(d.source), m.content || d.source, true) AS price
        FROM hippocampus.search_memory(p_user_id, p_app_name, p_query, p_query_embedding, 4 * p_limit,
            p_min_relevance => p_min_relevance, p_now => p_now) m
        CROSS JOIN LATERAL (SELECT CASE WHEN jsonb_typeof(m.metadata -> 'domain') = 'string'
            THEN ' (Source: ' || (m.metadata ->> 'domain') || ')' ELSE '' END AS source) d
        ORDER BY m.score DESC, m.occurred_until DESC, m.memory_id
    LOOP
        EXIT WHEN cardinality(v_ids) = p_limit;
        IF v_tokens + v_hit.price <= p_max_tokens THEN
            v_tokens := v_tokens + v_hit.price;
            v_lines := v_lines || v_hit.line;
            v_ids := v_ids || v_hit.memory_id;
        END IF;
    END LOOP;
    IF v_ids <> '{}' THEN
        RETURN QUERY SELECT concat_ws(E'\n', v_words.opening, v_notice.notice, array_to_string(v_lines, E'\n'), v_words.closing),
            v_tokens, 'episodic_memory'::text, 40, v_ids;
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus.recall_block IS
    'The memories that a task or message brings to mind, at most p_limit, as one fenced block for a prompt that never exceeds p_max_tokens; no row where nothing was found or nothing fits. What stands in it is data: it cannot close the fence, and each says whose words it holds where they are not the user''s.';
REVOKE ALL ON FUNCTION hippocampus.recall_block FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.recall_block
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
