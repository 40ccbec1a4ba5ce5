-- Refuses a filter that holds a word which is not in a closed list: it would leave everything out, silently.
-- Null is no filter.
CREATE OR REPLACE FUNCTION hippocampus._check_each_of(
    p_argument text,
    p_values text[],
    p_allowed text[]
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_value text;
BEGIN
    FOREACH v_value IN ARRAY coalesce(p_values, '{}') LOOP
        PERFORM hippocampus._check_one_of(p_argument, v_value, p_allowed);
    END LOOP;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_each_of IS 'Raises HC009 where a filter holds a word that is not one of those allowed.';
REVOKE ALL ON FUNCTION hippocampus._check_each_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_each_of
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
