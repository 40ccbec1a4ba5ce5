CREATE OR REPLACE FUNCTION hippocampus._check_json_text(
    p_argument text,
    p_value jsonb,
    p_min integer,
    p_max integer
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF jsonb_typeof(p_value) NOT IN ('string', 'null') THEN
        RAISE EXCEPTION '% is a JSON %', p_argument, jsonb_typeof(p_value)
            USING ERRCODE = 'HC009', HINT = format('Give a text of %s to %s bytes.', p_min, p_max);
    END IF;
    PERFORM hippocampus._check_size(p_argument, p_value #>> '{}', p_min, p_max);
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_json_text IS
    'Raises HC009 where a JSON value is missing or no text, or the text is too short, HC006 where it is too long (bytes).';
REVOKE ALL ON FUNCTION hippocampus._check_json_text FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_json_text TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
