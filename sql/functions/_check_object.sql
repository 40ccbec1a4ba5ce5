-- Refuses JSON that is no object or too large; null is the empty object. Gives the object, so that it can
-- stand where the value is written, also where that is known only then (a merge).
CREATE OR REPLACE FUNCTION hippocampus._check_object(
    p_argument text,
    p_value jsonb,
    p_max integer
) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF jsonb_typeof(p_value) <> 'object' THEN
        RAISE EXCEPTION '% is a JSON %', p_argument, jsonb_typeof(p_value)
            USING ERRCODE = 'HC009', HINT = 'Give a JSON object.';
    ELSIF pg_column_size(p_value) > p_max THEN
        RAISE EXCEPTION '% is % bytes long', p_argument, pg_column_size(p_value)
            USING ERRCODE = 'HC006', HINT = format('Give at most %s bytes; store larger content elsewhere and refer to it.', p_max);
    END IF;
    RETURN coalesce(p_value, '{}');
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_object IS
    'A JSON object, empty for null. Raises HC009 where it is no object, HC006 where it is too large.';
REVOKE ALL ON FUNCTION hippocampus._check_object FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_object
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
