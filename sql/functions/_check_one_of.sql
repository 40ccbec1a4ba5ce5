-- Refuses a word that is not in a closed list, naming the argument and the list.
CREATE OR REPLACE FUNCTION hippocampus._check_one_of(
    p_argument text,
    p_value text,
    p_allowed text[],
    p_errcode text DEFAULT 'HC009'
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF p_value IS NULL OR p_value <> ALL (p_allowed) THEN
        RAISE EXCEPTION '% is %', p_argument, coalesce(quote_literal(left(p_value, 100)), 'null')
            USING ERRCODE = p_errcode, HINT = 'Give one of: ' || array_to_string(p_allowed, ', ') || '.';
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_one_of IS 'Raises (HC009 by default) where a word is not one of those allowed.';
REVOKE ALL ON FUNCTION hippocampus._check_one_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_one_of
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
