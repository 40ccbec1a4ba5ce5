-- Refuses similarity bands that cannot be.
CREATE OR REPLACE FUNCTION hippocampus._check_bands(
    p_key text,
    p_value jsonb
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_name text;
BEGIN
    IF p_value IS NULL OR jsonb_typeof(p_value) <> 'object'
        OR ARRAY(SELECT jsonb_object_keys(CASE jsonb_typeof(p_value) WHEN 'object' THEN p_value ELSE '{}' END) ORDER BY 1)
            <> ARRAY['ask', 'duplicate', 'forget'] THEN
        RAISE EXCEPTION 'the setting % is %', quote_literal(p_key), coalesce(left(p_value::text, 100), 'null')
            USING ERRCODE = 'HC009', HINT = 'Give all three: {"duplicate": 0.93, "ask": 0.78, "forget": 0.6}.';
    END IF;
    FOREACH v_name IN ARRAY ARRAY['ask', 'duplicate', 'forget'] LOOP
        PERFORM hippocampus._check_range(format('%s of the setting %s', v_name, p_key),
            hippocampus._json_number(p_value -> v_name), 0, 1);
    END LOOP;
    IF (p_value ->> 'ask')::numeric > (p_value ->> 'duplicate')::numeric THEN
        RAISE EXCEPTION 'ask of the setting % is %, duplicate is %', quote_literal(p_key), p_value -> 'ask', p_value -> 'duplicate'
            USING ERRCODE = 'HC009', HINT = 'What is asked about is less alike than what is a duplicate.';
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_bands IS 'Raises HC009 for similarity bands that are not complete, in range and in order.';
REVOKE ALL ON FUNCTION hippocampus._check_bands FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_bands TO hippocampus_service, hippocampus_worker;
