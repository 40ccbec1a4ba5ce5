-- Refuses a time that clients cannot read or clocks cannot count with: null, infinite, outside the years 1 to 9999.
CREATE OR REPLACE FUNCTION hippocampus._check_time(
    p_argument text,
    p_time timestamptz
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF p_time IS NULL OR p_time < '0001-01-02 00:00:00+00' OR p_time > '9999-12-30 00:00:00+00' THEN
        RAISE EXCEPTION '% is %', p_argument, coalesce(p_time::text, 'null')
            USING ERRCODE = 'HC009', HINT = 'Give a time in the years 1 to 9999.';
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_time IS 'Raises HC009 where a time is null, infinite, or outside the years 1 to 9999.';
REVOKE ALL ON FUNCTION hippocampus._check_time FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_time TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
