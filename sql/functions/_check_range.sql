-- Refuses a number outside its range, naming the argument. NaN is outside every range.
CREATE OR REPLACE FUNCTION hippocampus._check_range(
    p_argument text,
    p_value double precision,
    p_min double precision,
    p_max double precision,
    p_errcode text DEFAULT 'HC009'
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    -- what is almost zero does not fit the columns, which are of single precision
    IF p_value IS NULL OR p_value = 'NaN' OR p_value < p_min OR p_value > p_max
        OR p_errcode = 'HC009' AND p_value <> 0 AND abs(p_value) < 1e-30 THEN
        RAISE EXCEPTION '% is %', p_argument, coalesce(p_value::text, 'null')
            USING ERRCODE = p_errcode, HINT = format('Give a number from %s to %s.', p_min, p_max);
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_range IS 'Raises (HC009 by default) where a number is null, NaN or outside its range.';
REVOKE ALL ON FUNCTION hippocampus._check_range FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_range
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
