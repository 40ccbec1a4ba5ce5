-- Which conversations a question is about: the best memory of each, and how much of the question its author told in it.
-- A search for memories answers with many of one conversation; this answers with each conversation once. The words
-- that count for a conversation are those of whom the question is about, where it is about somebody: in a talk with
-- an assistant, most words are the assistant's.
CREATE OR REPLACE FUNCTION hippocampus.search_threads(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_query_embedding public.vector DEFAULT NULL,
    p_limit integer DEFAULT 10,
    p_since timestamptz DEFAULT NULL,
    p_until timestamptz DEFAULT NULL,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.thread_hits
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $fn$
DECLARE
    v_rows double precision;
    v_terms text[];
    v_read double precision[]; -- which share of a term's postings is read
    v_talks double precision;
    v_turns double precision;
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_limit', p_limit, 0, 200);
    v_rows := (SELECT i.rows FROM hippocampus._indexed_rows(p_user_id, p_app_name, 'memory') i);
    SELECT array_agg(w.term), array_agg(w.read) INTO v_terms, v_read
    FROM hippocampus._term_weights(p_user_id, p_app_name, 'memory', hippocampus._query_terms(p_app_name, p_query), v_rows, false) w
    WHERE w.finds;
    SELECT t.talks, t.turns INTO v_talks, v_turns FROM hippocampus._talks(p_user_id, p_app_name, v_rows) t;
    RETURN QUERY
    WITH hits AS MATERIALIZED (
        SELECT h.thread_id, h.memory_id, h.content, h.score + h.spread AS score, count(*) OVER w AS memories,
            min(h.occurred_from) OVER w AS occurred_from, max(h.occurred_until) OVER w AS occurred_until,
            row_number() OVER (PARTITION BY h.thread_id ORDER BY h.score + h.spread DESC, h.memory_id) AS n
        FROM hippocampus.search_memory(p_user_id, p_app_name, p_query, p_query_embedding, 200,
            p_since => p_since, p_until => p_until, p_now => p_now) h
        WHERE h.thread_id IS NOT NULL
        WINDOW w AS (PARTITION BY h.thread_id)
    ), held AS MATERIALIZED (
        SELECT p.n AS term, p.place / 16777216 AS number, m.author
        FROM hippocampus._term_hits(p_user_id, p_app_name, 'memory', v_terms, 17) p
        CROSS JOIN LATERAL hippocampus._term_row(p_user_id, p_app_name, 'memory', p.number) r
        CROSS JOIN LATERAL hippocampus._memory_row(p_user_id, p_app_name, r.row_id) m
        WHERE p.place IS NOT NULL
    ), authors AS MATERIALIZED (
        SELECT a.author, hippocampus._is_asked(a.author, p_query) AS asked FROM (SELECT DISTINCT h.author FROM held h) a
    ), told AS (
        SELECT h.term, h.number, count(*) AS rows, count(*) OVER (PARTITION BY h.term) / v_read[h.term] AS df
        FROM held h JOIN authors a ON a.author IS NOT DISTINCT FROM h.author
        WHERE a.asked OR NOT EXISTS (SELECT FROM authors o WHERE o.asked)
        GROUP BY h.term, h.number
    ), talks AS MATERIALIZED (
        SELECT t.id, sum(ln(1 + greatest(0, v_talks - o.df + 0.5) / (o.df + 0.5)) * o.rows * 2.2
            / (o.rows + 1.2 * (0.25 + 0.75 * (t.next_seq - 1) / v_turns))) AS told
        FROM told o JOIN hippocampus.threads t ON t.number = o.number AND t.user_id = p_user_id AND t.app_name = p_app_name
        GROUP BY t.id
    )
    SELECT h.thread_id, t.session_id, h.score + 0.2 * coalesce(k.told / nullif((SELECT max(o.told) FROM talks o), 0), 0) AS total,
        h.memory_id, h.content, h.memories, h.occurred_from, h.occurred_until
    FROM hits h
    JOIN hippocampus.threads t ON t.id = h.thread_id AND t.user_id = p_user_id AND t.app_name = p_app_name
    LEFT JOIN talks k ON k.id = h.thread_id
    WHERE h.n = 1
    ORDER BY total DESC, h.occurred_until DESC, h.thread_id LIMIT p_limit;
END
$fn$;
COMMENT ON FUNCTION hippocampus.search_threads IS
    'Finds the conversations that a question is about, best first, each with its best memory and how many of the 200 best memories are of it. Reads only.';
REVOKE ALL ON FUNCTION hippocampus.search_threads FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.search_threads
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
