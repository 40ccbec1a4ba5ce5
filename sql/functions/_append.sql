-- Appends rows to a thread under its row lock. The rows come with what the writer gave: id, sequence_num,
-- tenant and token_count_exact are set here, and what is null gets its default. An event_id that the thread
-- has already is skipped.
CREATE OR REPLACE FUNCTION hippocampus._append(
    p_thread_id uuid,
    p_events hippocampus.events[],
    p_expected_version bigint
) RETURNS SETOF hippocampus.events
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $fn$
DECLARE
    v_thread hippocampus.threads;
    v_known text[] := '{}';
    v_count bigint := cardinality(p_events);
BEGIN
    PERFORM hippocampus._check_appended(p_events);
    SELECT t.* INTO v_thread FROM hippocampus._lock_thread(p_thread_id) t;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'thread % is unknown', coalesce(p_thread_id::text, 'null')
            USING ERRCODE = 'HC002', HINT = 'Create it with create_thread; a bound role sees threads of its own scope only.';
    END IF;
    IF v_thread.version <> p_expected_version THEN
        RAISE EXCEPTION 'thread % is at version %, not %', p_thread_id, v_thread.version, p_expected_version
            USING ERRCODE = 'HC008', HINT = 'Somebody else wrote it; read it again and retry.';
    END IF;
    IF EXISTS (SELECT FROM unnest(p_events) n WHERE n.event_id IS NOT NULL) THEN
        -- Each by its order, which the index of ids alone has: a session keeps the plan that it made for a table that nobody
        -- had analysed, and another index would make a first import slower with every event.
        SELECT coalesce(array_agg(n.event_id), '{}') INTO v_known FROM unnest(p_events) n
        WHERE n.event_id = (SELECT e.event_id FROM hippocampus.events e
            WHERE e.thread_id = p_thread_id AND e.event_id >= n.event_id ORDER BY e.event_id LIMIT 1);
        SELECT count(*) - count(n.event_id) + count(DISTINCT n.event_id) FILTER (WHERE n.event_id <> ALL (v_known))
        INTO v_count FROM unnest(p_events) n;
    END IF;
    IF v_count = 0 THEN
        RETURN;
    END IF;
    UPDATE hippocampus.threads t
    SET next_seq = t.next_seq + v_count, version = t.version + 1, updated_at = greatest(t.updated_at, now())
    WHERE t.id = p_thread_id;
    RETURN QUERY
    INSERT INTO hippocampus.events AS e (created_at, sequence_num, importance, token_count, token_count_exact, thread_id,
        user_id, app_name, author, event_type, category, event_id, invocation_id, branch, text, tags, content, metadata)
    SELECT coalesce(n.created_at, now()), v_thread.next_seq - 1 + row_number() OVER (ORDER BY n.place),
        coalesce(n.importance, hippocampus.score_importance(n.category)::real),
        coalesce(n.token_count, hippocampus.estimate_tokens(n.author || ': ' || n.text)), n.token_count IS NOT NULL,
        p_thread_id, v_thread.user_id, v_thread.app_name, n.author, n.event_type, n.category, n.event_id, n.invocation_id,
        n.branch, n.text, n.tags, n.content, n.metadata
    FROM (
        SELECT r.created_at, r.importance, r.token_count, r.author, coalesce(r.event_type, 'message') AS event_type,
            hippocampus._event_category(r.category, r.content) AS category, r.event_id, r.invocation_id, r.branch,
            coalesce(r.text, hippocampus._event_text(r.content)) AS text, coalesce(r.tags, '{}') AS tags, r.content,
            coalesce(r.metadata, '{}') AS metadata, r.place,
            r.event_id IS NULL OR row_number() OVER (PARTITION BY r.event_id ORDER BY r.place) = 1 AS first
        FROM unnest(p_events) WITH ORDINALITY AS r (created_at, sequence_num, importance, token_count, token_count_exact,
            thread_id, id, user_id, app_name, author, event_type, category, event_id, invocation_id, branch, text, tags,
            content, metadata, place)
    ) n
    WHERE n.first AND (n.event_id IS NULL OR n.event_id <> ALL (v_known))
    RETURNING e.*;
END
$fn$;
COMMENT ON FUNCTION hippocampus._append IS
    'Appends rows to a thread, in their order, numbered without a gap; returns those that were stored.';
REVOKE ALL ON FUNCTION hippocampus._append FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._append TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
