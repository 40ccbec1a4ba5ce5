-- Refuses a text that is empty or too long, naming the argument and its size.
CREATE OR REPLACE FUNCTION hippocampus._check_size(
    p_argument text,
    p_value text,
    p_min integer,
    p_max integer
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF p_value IS NULL OR octet_length(p_value) < p_min THEN
        RAISE EXCEPTION '% is %', p_argument, CASE WHEN p_value IS NULL THEN 'null' ELSE 'empty' END
            USING ERRCODE = 'HC009', HINT = format('Give a text of %s to %s bytes.', p_min, p_max);
    ELSIF octet_length(p_value) > p_max THEN
        RAISE EXCEPTION '% is % bytes long', p_argument, octet_length(p_value)
            USING ERRCODE = 'HC006', HINT = format('Give at most %s bytes; store larger content elsewhere and refer to it.', p_max);
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_size IS 'Raises HC009 where a text is null or too short, HC006 where it is too long (bytes).';
REVOKE ALL ON FUNCTION hippocampus._check_size FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_size
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
