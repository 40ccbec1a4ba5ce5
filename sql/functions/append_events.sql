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
SET timezone = 'UTC' -- of a time that names no zone, in every session
AS $fn$
BEGIN
    PERFORM hippocampus._check_events(p_events);
    RETURN QUERY
    SELECT e.* FROM hippocampus._append(p_thread_id, ARRAY(
        SELECT ROW ((a.item ->> 'created_at')::timestamptz, NULL,
            coalesce((a.item ->> 'importance')::real, CASE WHEN a.item ? 'context'
                THEN hippocampus.score_importance(hippocampus._event_category(a.item ->> 'category', a.item -> 'content'), a.item -> 'context')::real END),
            (a.item ->> 'token_count')::integer, NULL, NULL, NULL, NULL, NULL, a.item ->> 'author', a.item ->> 'event_type',
            a.item ->> 'category', a.item ->> 'event_id', a.item ->> 'invocation_id', a.item ->> 'branch', a.item ->> 'text',
            CASE WHEN jsonb_typeof(a.item -> 'tags') = 'array' THEN ARRAY(SELECT jsonb_array_elements_text(a.item -> 'tags')) END,
            a.item -> 'content', nullif(a.item -> 'metadata', 'null'))::hippocampus.events
        FROM jsonb_array_elements(p_events) WITH ORDINALITY a (item, place)
        ORDER BY a.place), p_expected_version) e;
END
$fn$;
COMMENT ON FUNCTION hippocampus.append_events IS
    'Appends a JSON array of events to a thread and returns the rows stored. Each: author and content; optional text, event_type, category, importance (by default score_importance of category and context), context (not stored), tags, event_id, invocation_id, branch, metadata, token_count, created_at (UTC where it names no time zone). An event_id the thread has already is skipped. p_expected_version refuses (HC008) when somebody else wrote the thread since.';
REVOKE ALL ON FUNCTION hippocampus.append_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.append_events TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
