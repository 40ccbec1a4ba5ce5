-- Refuses a setting that nothing reads, and a value that its reader could not use. What migrate keeps among the
-- settings for itself is its own business.
CREATE OR REPLACE FUNCTION hippocampus._check_setting(
    p_key text,
    p_value jsonb
) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_type text := CASE WHEN p_key IN ('text_search_config', 'token_encoding') THEN 'string'
        WHEN p_key IN ('episodic_turns', 'fact_supersede_margin', 'exact_search_rows') THEN 'number'
        WHEN p_key IN ('ranking', 'evidence', 'anchors') OR p_key LIKE 'ranking/_%' OR p_key LIKE 'anchors/_%' THEN 'object' END;
    v_number double precision := hippocampus._json_number(p_value);
    v_weight record;
BEGIN
    IF p_key IN ('functions_checksum', 'breaking_version') THEN
        RETURN;
    ELSIF p_key = 'similarity' OR p_key LIKE 'similarity/_%' THEN
        PERFORM hippocampus._check_bands(p_key, p_value);
        RETURN;
    ELSIF v_type IS NULL THEN
        RAISE EXCEPTION 'the setting % is unknown', coalesce(quote_literal(left(p_key, 100)), 'null')
            USING ERRCODE = 'HC009', HINT = 'Give one of: text_search_config, token_encoding, episodic_turns, '
                'fact_supersede_margin, exact_search_rows, evidence, ranking, ranking/MODEL, similarity, similarity/MODEL, anchors, anchors/MODEL.';
    ELSIF p_value IS NULL OR jsonb_typeof(p_value) <> v_type THEN
        RAISE EXCEPTION 'the setting % is %', quote_literal(p_key), coalesce(left(p_value::text, 100), 'null')
            USING ERRCODE = 'HC009', HINT = format('Give a JSON %s.', v_type);
    ELSIF v_number <> floor(v_number) AND p_key <> 'fact_supersede_margin' THEN
        RAISE EXCEPTION 'the setting % is %', quote_literal(p_key), p_value
            USING ERRCODE = 'HC009', HINT = 'Give a whole number.';
    END IF;
    IF p_key = 'anchors' OR p_key LIKE 'anchors/_%' THEN
        PERFORM hippocampus._check_anchor_setting(p_key, p_value);
        RETURN;
    END IF;
    CASE p_key
        WHEN 'text_search_config' THEN
            IF NOT EXISTS (SELECT FROM pg_ts_config c -- in a CASE, since the planner evaluates what it estimates
                WHERE CASE WHEN pg_input_is_valid(p_value #>> '{}', 'regconfig') THEN c.oid = (p_value #>> '{}')::regconfig END) THEN
                RAISE EXCEPTION 'the text search configuration % is unknown', left(p_value::text, 100)
                    USING ERRCODE = 'HC009', HINT = 'Give one of pg_catalog.pg_ts_config; with its schema where it is your own.';
            END IF;
        WHEN 'token_encoding' THEN PERFORM hippocampus._check_size('token_encoding', p_value #>> '{}', 1, 255);
        WHEN 'episodic_turns' THEN PERFORM hippocampus._check_range('the setting episodic_turns', v_number, 1, 1000);
        WHEN 'fact_supersede_margin' THEN PERFORM hippocampus._check_range('the setting fact_supersede_margin', v_number, 0, 1);
        WHEN 'exact_search_rows' THEN PERFORM hippocampus._check_range('the setting exact_search_rows', v_number, 1, 1e9);
        ELSE
            FOR v_weight IN SELECT e.key, e.value FROM jsonb_each(p_value) e LOOP -- ranking, ranking/MODEL, evidence
                PERFORM hippocampus._check_one_of(format('a weight of the setting %s', p_key), v_weight.key,
                    CASE p_key WHEN 'evidence' THEN ARRAY['nearby', 'meaning', 'session', 'answer', 'author', 'time', 'question', 'length', 'spread']
                        ELSE ARRAY['text', 'vector', 'strength', 'recency'] END);
                PERFORM hippocampus._check_range(format('the weight %s of the setting %s', v_weight.key, p_key),
                    hippocampus._json_number(v_weight.value), 0, CASE p_key WHEN 'evidence' THEN 1 ELSE 1000 END);
            END LOOP;
            IF p_key <> 'evidence' AND NOT jsonb_path_exists(p_value, '$.* ? (@ > 0)') THEN
                RAISE EXCEPTION 'no weight of the setting % is above 0', quote_literal(p_key)
                    USING ERRCODE = 'HC009', HINT = 'Give weights: {"text": 0.55, "vector": 0.35, "strength": 0.05, "recency": 0.05}.';
            END IF;
    END CASE;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_setting IS
    'Raises HC009 for a setting that is unknown, or whose value is not of its type or range.';
REVOKE ALL ON FUNCTION hippocampus._check_setting FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_setting TO hippocampus_service, hippocampus_worker;
