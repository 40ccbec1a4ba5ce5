-- A JSON number as a double, for checks of its range: one that a double does not hold is as far out of every range.
-- Null for what is no number.
CREATE OR REPLACE FUNCTION hippocampus._json_number(
    p_value jsonb
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT CASE jsonb_typeof(p_value) WHEN 'number' THEN CASE WHEN abs(p_value::numeric) BETWEEN 1e-300 AND 1e300
        THEN p_value::numeric::double precision ELSE sign(p_value::numeric) * CASE WHEN abs(p_value::numeric) > 1 THEN 1e300 ELSE 0 END END END;
END;
COMMENT ON FUNCTION hippocampus._json_number IS 'A JSON number, brought to within ±1e300; null for what is no number.';
REVOKE ALL ON FUNCTION hippocampus._json_number FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._json_number
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
