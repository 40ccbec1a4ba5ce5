-- A state with the keys of a delta, and without those that the delta gives null. One level only: a key's value
-- is the client's own, and replaced as a whole.
CREATE OR REPLACE FUNCTION hippocampus._merge_state(
    p_state jsonb,
    p_delta jsonb
) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RETURN hippocampus._check_object('the merged state', (p_state || p_delta)
        - ARRAY(SELECT d.key FROM jsonb_each(p_delta) d WHERE d.value = 'null'), 1048576);
END
$fn$;
COMMENT ON FUNCTION hippocampus._merge_state IS
    'A JSON object with the keys of another; a null takes its key away. Raises HC006 beyond 1 MiB.';
REVOKE ALL ON FUNCTION hippocampus._merge_state FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._merge_state TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
