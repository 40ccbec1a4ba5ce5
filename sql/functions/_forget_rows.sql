-- Forgets memories and facts, or events, so that no consolidation brings them back. The same value of a fact in its
-- history and the older versions of a memory go, too. The events that told it are marked as passed over, which
-- keeps nothing of what they told: no consolidation reads them again, no search finds them; their own text
-- stays for whoever shows the conversation, unless p_log is 'erase'. What else was drawn from those events and
-- tells the same goes with it. A consolidation that has read them and still thinks finds at its end that the
-- thread's forgettings moved, and begins again.
CREATE OR REPLACE FUNCTION hippocampus._forget_rows(
    p_user_id text,
    p_app_name text,
    p_ids uuid[],
    p_log text,
    p_query text DEFAULT NULL
) RETURNS hippocampus.forgotten_counts
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_ids uuid[];
    v_thread_ids uuid[];
    v_seqs bigint[];
    v_counts hippocampus.forgotten_counts;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_one_of('p_log', p_log, ARRAY['keep', 'erase']);
    v_ids := p_ids || ARRAY(SELECT hippocampus._same_rows(p_user_id, p_app_name, p_ids));
    SELECT array_agg(e.thread_id), array_agg(e.sequence_num) INTO v_thread_ids, v_seqs
    FROM hippocampus._telling_events(p_user_id, p_app_name, v_ids) e;
    PERFORM FROM hippocampus.threads t -- from here on, what a consolidation of them has stored is seen
    WHERE t.id = ANY (v_thread_ids) AND t.user_id = p_user_id AND t.app_name = p_app_name ORDER BY t.id FOR NO KEY UPDATE;
    UPDATE hippocampus.threads t SET forgettings = t.forgettings + 1
    WHERE t.id = ANY (v_thread_ids) AND t.user_id = p_user_id AND t.app_name = p_app_name;
    v_ids := ARRAY(SELECT hippocampus._forgotten_with(p_user_id, p_app_name, v_ids, v_thread_ids, v_seqs, p_query));
    INSERT INTO hippocampus.forgotten_events AS f (thread_id, sequence_num, user_id, app_name, erased)
    SELECT g.thread_id, g.seq, p_user_id, p_app_name, p_log = 'erase'
    FROM unnest(v_thread_ids, v_seqs) AS g (thread_id, seq)
    JOIN hippocampus.events n ON n.thread_id = g.thread_id AND n.sequence_num = g.seq AND n.user_id = p_user_id AND n.app_name = p_app_name
    ORDER BY 1, 2 -- of a thread that somebody forgot meanwhile, nothing is left to pass over
    ON CONFLICT (thread_id, sequence_num, user_id, app_name) DO UPDATE SET erased = f.erased OR excluded.erased;
    GET DIAGNOSTICS v_counts.events = ROW_COUNT;
    SELECT d.memories, d.facts INTO v_counts.memories, v_counts.facts
    FROM hippocampus._delete_rows(p_user_id, p_app_name, v_ids) d;
    PERFORM hippocampus._clear_terms(p_user_id, p_app_name);
    v_counts.threads := 0;
    RETURN v_counts;
END
$fn$;
COMMENT ON FUNCTION hippocampus._forget_rows IS 'Forgets memories, facts and events with all that tells the same, and keeps consolidation from bringing them back.';
REVOKE ALL ON FUNCTION hippocampus._forget_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._forget_rows TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
