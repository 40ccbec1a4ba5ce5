-- Refuses a batch of events before anything is locked or written, naming the event and the fault.
CREATE OR REPLACE FUNCTION hippocampus._check_events(
    p_events jsonb
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_bad record;
BEGIN
    IF p_events IS NULL OR jsonb_typeof(p_events) <> 'array' THEN
        RAISE EXCEPTION 'p_events is %', coalesce('a JSON ' || jsonb_typeof(p_events), 'null')
            USING ERRCODE = 'HC009', HINT = 'Give a JSON array of events: [{"author": "user", "content": {"text": "…"}}].';
    END IF;
    SELECT f.n, f.errcode, f.message, f.hint INTO v_bad FROM (
        SELECT a.n, c.* FROM jsonb_array_elements(p_events) WITH ORDINALITY a (item, n)
        CROSS JOIN LATERAL (VALUES
            (jsonb_typeof(a.item) <> 'object', 'HC009', 'is not an object', 'Give {"author": …, "content": …}.'),
            (coalesce(octet_length(a.item ->> 'author'), 0) NOT BETWEEN 1 AND 255, 'HC009',
                'has no author, or one over 255 bytes', 'Say who wrote it: user, agent, tool, system, or a name.'),
            (a.item -> 'content' IS NULL, 'HC009', 'has no content', 'Give the content as JSON, for example {"text": "…"}.'),
            (pg_column_size(a.item -> 'content') > 2097152, 'HC006',
                'has content of ' || pg_column_size(a.item -> 'content') || ' bytes',
                'Give at most 2097152 bytes; store larger content elsewhere and refer to it.'),
            (octet_length(a.item ->> 'text') > 1048576 OR octet_length(hippocampus._event_text(a.item -> 'content')) > 1048576,
                'HC006', 'has a text over 1048576 bytes', 'Split it, or store it elsewhere and refer to it.'),
            (a.item ->> 'category' <> ALL (ARRAY['chat', 'observation', 'task', 'decision', 'tool-use', 'error', 'insight', 'other']),
                'HC009', 'has category ' || quote_literal(left(a.item ->> 'category', 100)),
                'Give one of chat, observation, task, decision, tool-use, error, insight, other.'),
            (jsonb_typeof(a.item -> 'importance') NOT IN ('number', 'null')
                OR CASE WHEN jsonb_typeof(a.item -> 'importance') = 'number'
                        THEN (a.item ->> 'importance')::numeric NOT BETWEEN 0 AND 1 ELSE false END,
                'HC009', 'has importance ' || left(a.item ->> 'importance', 100), 'Give a number from 0 to 1.'),
            (jsonb_typeof(a.item -> 'tags') NOT IN ('array', 'null')
                OR CASE WHEN jsonb_typeof(a.item -> 'tags') = 'array' THEN jsonb_array_length(a.item -> 'tags') > 64 ELSE false END,
                'HC009', 'has tags that are no array of at most 64', 'Give ["tag", …].'),
            (jsonb_typeof(a.item -> 'metadata') NOT IN ('object', 'null'), 'HC009', 'has metadata that is no object', 'Give a JSON object.'),
            (CASE WHEN jsonb_typeof(a.item -> 'token_count') = 'number' THEN (a.item ->> 'token_count')::numeric NOT BETWEEN 0 AND 2147483647
                  ELSE jsonb_typeof(a.item -> 'token_count') <> 'null' END,
                'HC009', 'has token_count ' || left(a.item ->> 'token_count', 100), 'Give a count of tokens, or leave it out.')
        ) AS c (bad, errcode, message, hint)
        WHERE c.bad
    ) f ORDER BY f.n LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'event % of the batch %', v_bad.n, v_bad.message USING ERRCODE = v_bad.errcode, HINT = v_bad.hint;
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_events IS 'Raises HC009 or HC006, naming the event, where a batch of events cannot be stored.';
REVOKE ALL ON FUNCTION hippocampus._check_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_events TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
