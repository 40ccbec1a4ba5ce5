-- All that forget_memory would delete, and the events that it would mark (with p_log 'erase', empty), found as it finds
-- them: what the description means comes first, then what goes along. Of an event that was forgotten before, the text
-- is not shown again.
CREATE OR REPLACE FUNCTION hippocampus.preview_forget(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_query_embedding public.vector DEFAULT NULL,
    p_threshold double precision DEFAULT NULL,
    p_limit integer DEFAULT 100
) RETURNS SETOF hippocampus.forget_matches
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_meant hippocampus.forget_matches[];
    v_ids uuid[];
    v_thread_ids uuid[];
    v_seqs bigint[];
    v_rows uuid[];
BEGIN
    v_meant := ARRAY(SELECT m FROM hippocampus._meant_rows(p_user_id, p_app_name, p_query, p_query_embedding, p_threshold, p_limit) m);
    v_ids := ARRAY(SELECT m.id FROM unnest(v_meant) m);
    v_rows := v_ids || ARRAY(SELECT hippocampus._same_rows(p_user_id, p_app_name, v_ids));
    SELECT array_agg(e.thread_id), array_agg(e.sequence_num) INTO v_thread_ids, v_seqs
    FROM hippocampus._telling_events(p_user_id, p_app_name, v_rows) e;
    v_rows := ARRAY(SELECT hippocampus._forgotten_with(p_user_id, p_app_name, v_rows, v_thread_ids, v_seqs, p_query));
    RETURN QUERY
    SELECT a.* FROM (
        SELECT m.* FROM unnest(v_meant) m
        UNION ALL SELECT 'memory', m.id, m.content, 0, m.occurred_from, false FROM hippocampus.memories m
        WHERE m.id = ANY (v_rows) AND m.id <> ALL (v_ids) AND m.user_id = p_user_id AND m.app_name = p_app_name
        UNION ALL SELECT 'fact', f.id, hippocampus._fact_text(f.key, f.value), 0, f.valid_from, false FROM hippocampus.facts f
        WHERE f.id = ANY (v_rows) AND f.id <> ALL (v_ids) AND f.user_id = p_user_id AND f.app_name = p_app_name
        UNION ALL SELECT 'event', e.id, CASE WHEN f.sequence_num IS NULL THEN e.text ELSE '' END, 0, e.created_at, false
        FROM unnest(v_thread_ids, v_seqs) AS g (thread_id, seq)
        JOIN hippocampus.events e ON e.thread_id = g.thread_id AND e.sequence_num = g.seq AND e.user_id = p_user_id AND e.app_name = p_app_name
        LEFT JOIN hippocampus.forgotten_events f ON f.thread_id = g.thread_id AND f.sequence_num = g.seq AND f.user_id = p_user_id AND f.app_name = p_app_name
    ) a
    ORDER BY a.meant DESC, a.similarity DESC, a.source DESC, a.occurred_at, a.id;
END
$fn$;
COMMENT ON FUNCTION hippocampus.preview_forget IS
    'All that forget_memory would do for a description. First the memories and facts that it means (meant, at most p_limit): as near in meaning as p_threshold (the setting similarity, forget), or holding that share of its words where a vector is missing. Then what goes along, with a similarity of 0: memories and facts that tell the same, summaries and clusters that hold it, and the events that told it, which are passed over from then on, and with p_log ''erase'' emptied. Of a fact whose words no event of its source holds, these are all events of that source. Grouped by source, the rows are what forget_memory returns.';
REVOKE ALL ON FUNCTION hippocampus.preview_forget FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.preview_forget
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
