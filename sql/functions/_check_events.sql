-- Refuses a JSON batch whose values are not of their types, before they are cast; what the values may be is
-- _check_appended's.
CREATE OR REPLACE FUNCTION hippocampus._check_events(
    p_events jsonb
) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC' -- of a time that names no zone, in every session
AS $fn$
DECLARE
    v_bad record;
BEGIN
    IF p_events IS NULL OR jsonb_typeof(p_events) <> 'array' THEN
        RAISE EXCEPTION 'p_events is %', coalesce('a JSON ' || jsonb_typeof(p_events), 'null')
            USING ERRCODE = 'HC009', HINT = 'Give a JSON array of events: [{"author": "user", "content": {"text": "…"}}].';
    END IF;
    SELECT a.place, f.key, f.value, coalesce(t.type, 'a field that events have') AS wanted INTO v_bad
    FROM jsonb_array_elements(p_events) WITH ORDINALITY a (item, place)
    CROSS JOIN LATERAL (
        SELECT e.key, e.value FROM jsonb_each(CASE WHEN jsonb_typeof(a.item) = 'object' THEN a.item ELSE '{}' END) e
        UNION ALL SELECT NULL, a.item WHERE jsonb_typeof(a.item) <> 'object'
    ) f
    LEFT JOIN (VALUES ('author', 'string'), ('text', 'string'), ('event_type', 'string'), ('category', 'string'),
        ('event_id', 'string'), ('invocation_id', 'string'), ('branch', 'string'), ('created_at', 'string'),
        ('importance', 'number'), ('token_count', 'number'), ('tags', 'array'), ('metadata', 'object'), ('context', 'object'),
        ('content', 'any')) AS t (key, type) ON t.key = f.key
    WHERE t.type IS NULL OR jsonb_typeof(f.value) NOT IN (t.type, 'null') AND t.type <> 'any'
       OR f.key = 'token_count' AND jsonb_typeof(f.value) = 'number' AND (f.value::numeric % 1 <> 0 OR abs(f.value::numeric) > 2147483647)
       OR f.key = 'importance' AND jsonb_typeof(f.value) = 'number' AND abs(f.value::numeric) > 1e30
       OR f.key = 'tags' AND jsonb_path_exists(f.value, 'strict $[*] ? (@.type() <> "string")', silent => true)
       OR f.key = 'created_at' AND jsonb_typeof(f.value) = 'string' AND NOT pg_input_is_valid(f.value #>> '{}', 'timestamptz')
    ORDER BY a.place LIMIT 1;
    IF FOUND AND v_bad.key IS NULL THEN
        RAISE EXCEPTION 'event % of the batch is a JSON %', v_bad.place, jsonb_typeof(v_bad.value)
            USING ERRCODE = 'HC009', HINT = 'Give objects: {"author": "user", "content": {"text": "…"}}.';
    ELSIF FOUND THEN
        RAISE EXCEPTION 'event % of the batch has % %', v_bad.place, v_bad.key, left(v_bad.value::text, 100)
            USING ERRCODE = 'HC009', HINT = CASE v_bad.key WHEN 'created_at' THEN 'Give a time, for example 2026-05-01T12:00:00Z.'
                WHEN 'tags' THEN 'Give an array of strings.'
                ELSE format('Give %s.', v_bad.wanted) END;
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_events IS 'Raises HC009, naming event and field, where a JSON batch of events has a value of a wrong type.';
REVOKE ALL ON FUNCTION hippocampus._check_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_events TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
