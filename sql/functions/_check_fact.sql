-- Refuses a fact of remember_facts whose parts have the wrong type, naming its place in the list.
CREATE OR REPLACE FUNCTION hippocampus._check_fact(
    p_position integer,
    p_fact jsonb
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC' -- of a time that names no zone, in every session
AS $fn$
DECLARE
    v_part record;
    v_name text;
BEGIN
    IF jsonb_typeof(p_fact) <> 'object' THEN
        RAISE EXCEPTION 'p_facts[%] is %', p_position, left(p_fact::text, 100)
            USING ERRCODE = 'HC009', HINT = 'Give an object: {"key": "location", "value": "Berlin", "intensity": 0.4}.';
    END IF;
    FOR v_part IN
        SELECT e.key, e.value, t.type FROM jsonb_each(p_fact) e
        LEFT JOIN (VALUES ('fact_type', 'string'), ('key', 'string'), ('value', 'any'), ('confidence', 'number'),
            ('intensity', 'number'), ('valid_from', 'string'), ('embedding', 'array'), ('token_count', 'number'),
            ('metadata', 'object'), ('decisions', 'array'), ('trust', 'string'), ('author', 'string'),
            ('sequences', 'array'), ('shared_key', 'boolean')) AS t (name, type) ON t.name = e.key
        WHERE t.type IS NULL OR e.value <> 'null' AND t.type <> 'any' AND jsonb_typeof(e.value) <> t.type
            OR e.key = 'valid_from' AND e.value <> 'null' AND NOT pg_input_is_valid(e.value #>> '{}', 'timestamptz')
            OR e.key = 'token_count' AND e.value <> 'null' AND NOT pg_input_is_valid(e.value #>> '{}', 'integer')
            OR e.key = 'embedding' AND jsonb_typeof(e.value) = 'array' AND (jsonb_array_length(e.value) NOT BETWEEN 1 AND 16000
                OR jsonb_path_exists(e.value, 'strict $[*] ? (@.type() <> "number")', silent => true)
                OR jsonb_path_exists(e.value, 'strict $[*] ? (@ > 1e38 || @ < -1e38)', silent => true))
            OR e.key = 'sequences' AND e.value <> 'null' AND jsonb_path_exists(e.value, 'strict $[*] ? (@.type() <> "number" || @ < 1 || @ > 9000000000000000000 || @.floor() <> @)', silent => true)
        LIMIT 1
    LOOP
        RAISE EXCEPTION 'p_facts[%].% is %', p_position, v_part.key, left(v_part.value::text, 100)
            USING ERRCODE = 'HC009', HINT = CASE v_part.key WHEN 'valid_from' THEN 'Give a time.'
                WHEN 'embedding' THEN 'Give the numbers of a vector, 1 to 16000.'
                WHEN 'sequences' THEN 'Give the numbers of the thread''s events.'
                ELSE coalesce('Give a JSON ' || v_part.type || '.', 'Give fact_type, key, value, confidence, intensity, valid_from, '
                    'embedding, token_count, metadata, decisions, trust, author, sequences or shared_key.') END;
    END LOOP;
    FOREACH v_name IN ARRAY ARRAY['confidence', 'intensity'] LOOP
        PERFORM hippocampus._check_range(format('p_facts[%s].%s', p_position, v_name),
            coalesce(hippocampus._json_number(p_fact -> v_name), 1), 0, 1);
    END LOOP;
    PERFORM hippocampus._check_time(format('p_facts[%s].valid_from', p_position), coalesce((p_fact ->> 'valid_from')::timestamptz, '2000-01-01 00:00:00+00'));
    PERFORM hippocampus._check_decisions(p_position, coalesce(nullif(p_fact -> 'decisions', 'null'), '[]'));
    PERFORM hippocampus._check_one_of(format('p_facts[%s].trust', p_position), coalesce(p_fact ->> 'trust', 'user'),
        ARRAY['operator', 'user', 'agent', 'tool']);
    IF NOT p_fact ?& ARRAY['key', 'value'] OR p_fact -> 'key' = 'null' THEN
        RAISE EXCEPTION 'p_facts[%] has no %', p_position, CASE WHEN coalesce(p_fact -> 'key', 'null') = 'null' THEN 'key' ELSE 'value' END
            USING ERRCODE = 'HC009', HINT = 'Give what the fact is about, and what it says.';
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_fact IS 'Raises HC009 for a fact of remember_facts that is not well formed.';
REVOKE ALL ON FUNCTION hippocampus._check_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_fact TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
