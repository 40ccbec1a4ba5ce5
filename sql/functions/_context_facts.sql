-- The facts that a window could show, those that hold at p_now, best first: half by what the query's words tell of
-- them, half by how sure they are.
CREATE OR REPLACE FUNCTION hippocampus._context_facts(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_max_tokens integer,
    p_now timestamptz
) RETURNS TABLE (context_type text, rank bigint, content text, relevance double precision, cost integer,
    source_id uuid, source_seq bigint, source_until bigint, source_thread_id uuid, omitted_reason text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 100
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_rows integer := greatest(20, p_max_tokens / 4); -- an entry has four tokens at least
BEGIN
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
END
$fn$;
COMMENT ON FUNCTION hippocampus._context_facts IS 'The facts that a window could show, best first, with the tokens that each costs at most.';
REVOKE ALL ON FUNCTION hippocampus._context_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._context_facts
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
