-- Whether a text says again what a tool had said: an event of a tool holds most of its words, 70 of 100, anywhere in
-- the user's log, and none of a person does. An agent that has read a page and says it in its own name makes it no less
-- the page's. A call holds what the agent asked of a tool, not what the tool said. What is told in other words, in
-- parts, or in another language, is not seen here.
CREATE OR REPLACE FUNCTION hippocampus._repeats_tool(
    p_user_id text,
    p_app_name text,
    p_text text,
    p_before timestamptz
) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_terms text[] := hippocampus._query_terms(p_app_name, p_text);
    v_trust text;
    v_tool boolean := false;
BEGIN
    FOR v_trust IN -- read no further than to the first person's: of a common word, that is soon
        SELECT w.trust
        FROM (SELECT s.number FROM hippocampus._term_hits(p_user_id, p_app_name, 'event', v_terms) s
              GROUP BY s.number HAVING count(*) >= 0.7 * cardinality(v_terms)) h
        CROSS JOIN LATERAL hippocampus._term_row(p_user_id, p_app_name, 'event', h.number) r
        CROSS JOIN LATERAL ( -- LIMIT: see _memory_row
            SELECT * FROM hippocampus.events n WHERE n.id = r.row_id AND n.user_id = p_user_id AND n.app_name = p_app_name LIMIT 1) e
        CROSS JOIN LATERAL (SELECT CASE
            WHEN e.event_type ~* 'call$' OR e.content @? 'lax $.**.parts[*] ? (exists (@.functionCall) || exists (@.function_call))'
                AND NOT hippocampus._gives_result(e.content) THEN 'agent'
            ELSE hippocampus._trust(e.author, e.event_type, e.category, e.content) END AS trust) w
        WHERE e.created_at <= p_before
    LOOP
        IF v_trust IN ('user', 'operator') THEN
            RETURN false;
        END IF;
        v_tool := v_tool OR v_trust = 'tool';
    END LOOP;
    RETURN v_tool;
END
$fn$;
COMMENT ON FUNCTION hippocampus._repeats_tool IS
    'Whether an event of a tool had said most of a text''s words (70 of 100) before a time, and no event of a person.';
REVOKE ALL ON FUNCTION hippocampus._repeats_tool FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._repeats_tool TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
