-- Refuses events before anything is locked or written, naming the event and the fault. One cheap look over
-- all; only a batch with a fault pays for finding its words.
CREATE OR REPLACE FUNCTION hippocampus._check_appended(
    p_events hippocampus.events[]
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    c_categories CONSTANT text[] := ARRAY['chat', 'observation', 'task', 'decision', 'tool-use', 'error', 'insight', 'other'];
    v_bad record;
BEGIN
    IF NOT EXISTS (
        SELECT FROM unnest(p_events) e
        WHERE coalesce(octet_length(e.author), 0) NOT BETWEEN 1 AND 255
           OR octet_length(e.event_type) NOT BETWEEN 1 AND 64 OR octet_length(e.event_id) NOT BETWEEN 1 AND 255
           OR octet_length(e.invocation_id) > 255 OR octet_length(e.branch) > 1024 OR e.created_at NOT BETWEEN '0001-01-02 00:00:00+00' AND '9999-12-30 00:00:00+00'
           OR coalesce(e.content, 'null') = 'null' OR pg_column_size(e.content) > 1048576 OR octet_length(e.text) > 1048576
           OR e.category <> ALL (c_categories) OR NOT coalesce(e.importance, 0) BETWEEN 0 AND 1
           OR e.token_count < 0 OR cardinality(e.tags) > 64 OR array_ndims(e.tags) > 1 OR pg_column_size(e.metadata) > 262144
           OR EXISTS (SELECT FROM unnest(e.tags) AS t (tag) WHERE coalesce(octet_length(t.tag), 0) NOT BETWEEN 1 AND 255)
           OR jsonb_typeof(e.metadata) <> 'object') THEN
        RETURN;
    END IF;
    SELECT e.place, c.* INTO v_bad
    FROM unnest(p_events) WITH ORDINALITY AS e (created_at, sequence_num, importance, token_count, token_count_exact,
        thread_id, id, user_id, app_name, author, event_type, category, event_id, invocation_id, branch, text, tags, content,
        metadata, place)
    CROSS JOIN LATERAL (VALUES
        (coalesce(octet_length(e.author), 0) NOT BETWEEN 1 AND 255, 'HC009', CASE WHEN e.author IS NULL OR e.author = ''
            THEN 'has no author' ELSE format('has an author of %s bytes', octet_length(e.author)) END,
            'Say who wrote it, in 1 to 255 bytes: user, agent, tool, system, or a name.'),
        (octet_length(e.event_type) NOT BETWEEN 1 AND 64, 'HC009', format('has event_type %L', left(e.event_type, 100)),
            'Give 1 to 64 bytes, for example message.'),
        (octet_length(e.event_id) NOT BETWEEN 1 AND 255, 'HC009', format('has an event_id of %s bytes', octet_length(e.event_id)),
            'Give 1 to 255 bytes, or leave it out.'),
        (octet_length(e.invocation_id) > 255, 'HC009', format('has an invocation_id of %s bytes', octet_length(e.invocation_id)),
            'Give at most 255 bytes.'),
        (octet_length(e.branch) > 1024, 'HC009', format('has a branch of %s bytes', octet_length(e.branch)), 'Give at most 1024 bytes.'),
        (e.created_at NOT BETWEEN '0001-01-02 00:00:00+00' AND '9999-12-30 00:00:00+00', 'HC009', format('has created_at %s', e.created_at),
            'Give a time in the years 1 to 9999, or leave it out.'),
        (coalesce(e.content, 'null') = 'null', 'HC009', 'has no content', 'Give the content as JSON, for example {"text": "…"}.'),
        (pg_column_size(e.content) > 1048576, 'HC006', format('has content of %s bytes', pg_column_size(e.content)),
            'Give at most 1048576 bytes; store larger content elsewhere and refer to it.'),
        (octet_length(e.text) > 1048576, 'HC006', format('has a text of %s bytes', octet_length(e.text)),
            'Give at most 1048576 bytes; split it, or store it elsewhere and refer to it.'),
        (e.category <> ALL (c_categories), 'HC009', format('has category %L', left(e.category, 100)),
            'Give one of ' || array_to_string(c_categories, ', ') || '.'),
        (NOT coalesce(e.importance, 0) BETWEEN 0 AND 1, 'HC009', format('has importance %s', e.importance), 'Give a number from 0 to 1.'),
        (e.token_count < 0, 'HC009', format('has token_count %s', e.token_count), 'Give a count of tokens, or leave it out.'),
        (array_ndims(e.tags) > 1, 'HC009', format('has tags of %s dimensions', array_ndims(e.tags)), 'Give a list of tags.'),
        (cardinality(e.tags) > 64, 'HC009', format('has %s tags', cardinality(e.tags)), 'Give at most 64.'),
        (EXISTS (SELECT FROM unnest(e.tags) AS t (tag) WHERE coalesce(octet_length(t.tag), 0) NOT BETWEEN 1 AND 255),
            'HC009', 'has a tag that is null, empty or over 255 bytes', 'Give tags of 1 to 255 bytes.'),
        (jsonb_typeof(e.metadata) <> 'object', 'HC009', 'has metadata that is no object', 'Give a JSON object.'),
        (pg_column_size(e.metadata) > 262144, 'HC006', format('has metadata of %s bytes', pg_column_size(e.metadata)),
            'Give at most 262144 bytes.')
    ) AS c (bad, errcode, message, hint)
    WHERE c.bad ORDER BY e.place LIMIT 1;
    RAISE EXCEPTION '%', CASE WHEN cardinality(p_events) = 1 THEN 'the event ' ELSE format('event %s of the batch ', v_bad.place) END
            || v_bad.message
        USING ERRCODE = v_bad.errcode, HINT = v_bad.hint;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_appended IS 'Raises HC009 or HC006, naming the event, where events cannot be stored.';
REVOKE ALL ON FUNCTION hippocampus._check_appended FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_appended TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
