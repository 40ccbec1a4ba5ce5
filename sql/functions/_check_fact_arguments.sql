-- Refuses arguments of upsert_fact that no fact can have, naming them.
CREATE OR REPLACE FUNCTION hippocampus._check_fact_arguments(
    p_fact_type text,
    p_key text,
    p_value jsonb,
    p_confidence double precision,
    p_intensity double precision,
    p_valid_from timestamptz,
    p_token_count integer,
    p_trust text,
    p_now timestamptz
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_one_of('p_fact_type', p_fact_type, ARRAY['preference', 'rule', 'profile', 'custom']);
    PERFORM hippocampus._check_size('p_key', p_key, 1, 255);
    PERFORM hippocampus._check_size('p_value', p_value::text, 1, 262144);
    PERFORM hippocampus._check_one_of('p_trust', p_trust, ARRAY['operator', 'user', 'agent', 'tool']);
    PERFORM hippocampus._check_rule_trust(p_fact_type, p_key, p_trust);
    PERFORM hippocampus._check_range('p_confidence', p_confidence, 0, 1);
    PERFORM hippocampus._check_range('p_intensity', p_intensity, 0, 1);
    PERFORM hippocampus._check_range('p_token_count', coalesce(p_token_count, 0), 0, 2147483647);
    PERFORM hippocampus._check_time('p_now', p_now);
    PERFORM hippocampus._check_time('p_valid_from', coalesce(p_valid_from, p_now));
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_fact_arguments IS
    'Raises HC006 or HC009 for a fact that cannot be stored, naming the argument.';
REVOKE ALL ON FUNCTION hippocampus._check_fact_arguments FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_fact_arguments TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
