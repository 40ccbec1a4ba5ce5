-- Appends events to a thread, in the order of the array, under the thread's row lock: sequence numbers have
-- no gaps, and two writers of a thread follow each other. An event_id that the thread has already is skipped,
-- so that the same batch sent twice is stored once.
CREATE OR REPLACE FUNCTION hippocampus.append_events(
    p_thread_id uuid,
    p_events jsonb,
    p_expected_version bigint DEFAULT NULL
) RETURNS SETOF hippocampus.events
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_thread hippocampus.threads;
    v_skip text[];
    v_count bigint;
BEGIN
    PERFORM hippocampus._check_events(p_events);
    SELECT t.* INTO v_thread FROM hippocampus.threads t WHERE t.id = p_thread_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'thread % is unknown', coalesce(p_thread_id::text, 'null')
            USING ERRCODE = 'HC002', HINT = 'Create it with create_thread; a bound role sees threads of its own scope only.';
    END IF;
    IF v_thread.version <> p_expected_version THEN
        RAISE EXCEPTION 'thread % is at version %, not %', p_thread_id, v_thread.version, p_expected_version
            USING ERRCODE = 'HC008', HINT = 'Somebody else wrote it; read it again and retry.';
    END IF;
    SELECT coalesce(array_agg(e.event_id), '{}') INTO v_skip FROM hippocampus.events e
    WHERE e.thread_id = p_thread_id
      AND e.event_id IN (SELECT a.item ->> 'event_id' FROM jsonb_array_elements(p_events) a (item));
    SELECT count(*) - count(a.item ->> 'event_id')
         + count(DISTINCT a.item ->> 'event_id') FILTER (WHERE a.item ->> 'event_id' <> ALL (v_skip))
    INTO v_count FROM jsonb_array_elements(p_events) a (item);
    IF v_count = 0 THEN
        RETURN;
    END IF;
    UPDATE hippocampus.threads t
    SET next_seq = t.next_seq + v_count, version = t.version + 1, updated_at = greatest(t.updated_at, now())
    WHERE t.id = p_thread_id;
    RETURN QUERY
    INSERT INTO hippocampus.events AS e (created_at, sequence_num, importance, token_count, token_count_exact, thread_id,
        user_id, app_name, author, event_type, category, event_id, invocation_id, branch, text, tags, content, metadata)
    SELECT coalesce((v.item ->> 'created_at')::timestamptz, now()),
        v_thread.next_seq - 1 + row_number() OVER (ORDER BY v.n),
        coalesce((v.item ->> 'importance')::real,
            hippocampus.score_importance(v.category, coalesce(v.item -> 'context', v.item -> 'metadata'))::real),
        coalesce((v.item ->> 'token_count')::integer,
            hippocampus.estimate_tokens((v.item ->> 'author') || ': ' || v.text)),
        v.item ->> 'token_count' IS NOT NULL,
        p_thread_id, v_thread.user_id, v_thread.app_name, v.item ->> 'author', coalesce(v.item ->> 'event_type', 'message'),
        v.category, v.item ->> 'event_id', v.item ->> 'invocation_id', v.item ->> 'branch', v.text,
        ARRAY(SELECT jsonb_array_elements_text(coalesce(v.item -> 'tags', '[]'))),
        v.item -> 'content', coalesce(v.item -> 'metadata', '{}')
    FROM (
        SELECT a.item, a.n, coalesce(a.item ->> 'category', 'chat') AS category,
            coalesce(a.item ->> 'text', hippocampus._event_text(a.item -> 'content')) AS text,
            row_number() OVER (PARTITION BY coalesce(a.item ->> 'event_id', 'n' || a.n) ORDER BY a.n) AS copy
        FROM jsonb_array_elements(p_events) WITH ORDINALITY a (item, n)
    ) v
    WHERE v.copy = 1 AND (v.item ->> 'event_id' IS NULL OR v.item ->> 'event_id' <> ALL (v_skip))
    RETURNING e.*;
END
$fn$;
COMMENT ON FUNCTION hippocampus.append_events IS
    'Appends a JSON array of events to a thread and returns the rows stored. Each: author and content; optional text, event_type, category, importance, context (of score_importance), tags, event_id, invocation_id, branch, metadata, token_count, created_at. An event_id the thread has already is skipped. p_expected_version refuses (HC008) when somebody else wrote the thread since.';
REVOKE ALL ON FUNCTION hippocampus.append_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.append_events TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
