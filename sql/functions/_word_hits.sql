-- The memories that the words of a query find, with the share of evidence that each has (see _evidence): of its
-- own and its neighbours' words, and of its conversation's, weighed as the setting evidence says. The best has 1 where all of it is best.
-- A row at no one place in the log is its own conversation; one that only its neighbours brought is looked up.
CREATE OR REPLACE FUNCTION hippocampus._word_hits(
    p_user_id text,
    p_app_name text,
    p_terms text[],
    p_pool integer,
    p_evidence jsonb
) RETURNS TABLE (row_id uuid, score double precision) -- some rows twice
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 100
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $fn$
DECLARE
    v_nearby double precision := coalesce(p_evidence -> 'nearby', '0');
    v_session double precision := coalesce(p_evidence -> 'session', '0');
BEGIN
    IF cardinality(p_terms) = 0 THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH told AS MATERIALIZED ( -- number and seq are made here: under row-level security no index is asked for an expression that may fail
        SELECT t.row_id, t.place, t.place / 16777216 AS number, t.place % 16777216 AS seq, (t.words + v_session * coalesce(t.session, t.words)) / (1 + v_session) AS score
        FROM (
            SELECT w.row_id, w.place, w.words / nullif(max(w.words) OVER (), 0) AS words, w.session / nullif(max(w.session) OVER (), 0) AS session
            FROM (SELECT e.*, e.own + v_nearby * coalesce(e.nearby - e.own, 0) AS words
                  FROM hippocampus._evidence(p_user_id, p_app_name, 'memory', p_terms, p_pool,
                      p_answer => coalesce(p_evidence -> 'answer', '0')::double precision) e) w
        ) t
    ), best AS MATERIALIZED (
        SELECT t.* FROM told t ORDER BY t.score DESC NULLS LAST, t.row_id, t.place LIMIT p_pool
    )
    SELECT b.row_id, b.score FROM best b WHERE b.row_id IS NOT NULL AND b.score > 0
    UNION ALL -- a strong row may bring four places before a weak one, and where few turns became memories, no row with them
    SELECT r.row_id, r.score FROM (
        SELECT t.* FROM told t WHERE p_pool > 50 AND t.row_id IS NOT NULL AND t.score > 0
        ORDER BY t.score DESC, t.row_id, t.place LIMIT greatest(p_pool / 4, p_pool - 100)) r
    UNION ALL
    SELECT n.id, b.score FROM best b
    JOIN hippocampus.threads h ON h.number = b.number AND h.user_id = p_user_id AND h.app_name = p_app_name
    CROSS JOIN LATERAL (
        SELECT m.id FROM hippocampus.memories m
        WHERE m.thread_id = h.id AND m.from_seq = b.seq AND m.user_id = p_user_id AND m.app_name = p_app_name
          AND m.memory_type = 'episodic' AND m.superseded_by IS NULL LIMIT 1) n
    WHERE b.row_id IS NULL AND b.score > 0;
END
$fn$;
COMMENT ON FUNCTION hippocampus._word_hits IS
    'The memories that the words of a query find, with their share of the evidence.';
REVOKE ALL ON FUNCTION hippocampus._word_hits FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._word_hits
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
