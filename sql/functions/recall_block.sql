-- What a task or a message brings to mind, as one block for a prompt: fenced, escaped, each entry with whose words it
-- holds where they are not the user's. Lessons come first, then memories, then, where they are asked for, chunks of
-- documents. Never over the budget, and never an entry in part: the best of each kind take their place first, then the
-- next best; one that does not fit is passed over. Nothing is found: no row.
CREATE OR REPLACE FUNCTION hippocampus.recall_block(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_query_embedding public.vector DEFAULT NULL,
    p_max_tokens integer DEFAULT 1000,
    p_limit integer DEFAULT 3,
    p_min_relevance double precision DEFAULT 0,
    p_language text DEFAULT 'en',
    p_now timestamptz DEFAULT now(),
    p_max_lessons integer DEFAULT 3,
    p_project_anchors text[] DEFAULT NULL
) RETURNS SETOF hippocampus.recall_blocks
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_notice record;
    v_words record;
    v_tokens integer;
    v_room integer[] := ARRAY[p_max_lessons, p_limit, p_limit]; -- how many more of each kind
    v_kinds integer[] := '{}';
    v_lines text[] := '{}';
    v_ids uuid[] := '{}';
    v_hit record;
BEGIN
    PERFORM hippocampus._check_range('p_max_tokens', p_max_tokens, 0, 10000000, 'HC007');
    PERFORM hippocampus._check_range('p_limit', p_limit, 1, 1000);
    PERFORM hippocampus._check_range('p_max_lessons', p_max_lessons, 0, 1000);
    PERFORM hippocampus._check_one_of('p_language', p_language, ARRAY['en', 'zh']);
    SELECT n.* INTO v_notice FROM hippocampus._recall_notice(p_language) n;
    SELECT w.* INTO v_words FROM hippocampus._context_words(p_language) w WHERE w.context_type = 'memory';
    v_tokens := v_notice.tokens;
    FOR v_hit IN
        SELECT 2 AS kind, row_number() OVER (ORDER BY m.score DESC, m.occurred_until DESC, m.memory_id) AS rank, m.memory_id AS id,
            hippocampus._context_line(
                '- [' || coalesce(to_char(m.occurred_from AT TIME ZONE 'UTC', 'YYYY-MM-DD'), '?')
                    || CASE m.trust WHEN 'user' THEN '' ELSE ', ' || m.trust END || '] ', m.content || d.source) AS line,
            -- no text has more tokens than bytes
            hippocampus._context_price(m.token_count, 14 + octet_length(d.source), m.content || d.source, true) AS cost
        FROM hippocampus.search_memory(p_user_id, p_app_name, p_query, p_query_embedding, 4 * p_limit,
            p_min_relevance => p_min_relevance, p_now => p_now, p_project_anchors => p_project_anchors) m
        CROSS JOIN LATERAL (SELECT CASE WHEN jsonb_typeof(m.metadata -> 'domain') = 'string'
            THEN ' (Source: ' || (m.metadata ->> 'domain') || ')' ELSE '' END AS source) d
        UNION ALL
        SELECT 1, l.rank, l.id, l.line, l.cost FROM hippocampus._recall_lessons(p_user_id, p_app_name, p_query, p_query_embedding,
            4 * p_max_lessons, p_min_relevance, p_now) l
        UNION ALL
        SELECT 3, c.rank, c.id, c.line, c.cost
        FROM hippocampus._context_chunks(p_user_id, p_app_name, p_query, p_query_embedding, p_project_anchors) c
        WHERE c.score >= p_min_relevance
        ORDER BY rank, kind
    LOOP
        IF v_room[v_hit.kind] > 0 AND v_tokens + v_hit.cost <= p_max_tokens THEN
            v_tokens := v_tokens + v_hit.cost;
            v_room[v_hit.kind] := v_room[v_hit.kind] - 1;
            v_kinds := v_kinds || v_hit.kind;
            v_lines := v_lines || v_hit.line;
            v_ids := v_ids || v_hit.id;
        END IF;
    END LOOP;
    IF v_ids <> '{}' THEN
        RETURN QUERY
        SELECT concat_ws(E'\n', v_words.opening, v_notice.notice, string_agg(t.line, E'\n' ORDER BY t.kind, t.n), v_words.closing),
            v_tokens, 'episodic_memory'::text, 40, coalesce(array_agg(t.id ORDER BY t.n) FILTER (WHERE t.kind = 2), '{}'),
            coalesce(array_agg(t.id ORDER BY t.n) FILTER (WHERE t.kind = 1), '{}'),
            coalesce(array_agg(t.id ORDER BY t.n) FILTER (WHERE t.kind = 3), '{}')
        FROM unnest(v_kinds, v_lines, v_ids) WITH ORDINALITY AS t (kind, line, id, n);
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus.recall_block IS
    'What a task or message brings to mind, as one fenced block for a prompt that never exceeds p_max_tokens: at most p_max_lessons lessons (confidence, rule, domain), p_limit memories and, where p_project_anchors asks for the anchor index, p_limit chunks of documents; no row where nothing was found or nothing fits. What stands in it is data: it cannot close the fence, and each entry says whose words it holds where they are not the user''s.';
REVOKE ALL ON FUNCTION hippocampus.recall_block FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.recall_block
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
