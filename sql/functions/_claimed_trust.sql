-- Whose words a new memory holds: whose its writer says, and by default those of its events and its author.
CREATE OR REPLACE FUNCTION hippocampus._claimed_trust(
    p_trust text,
    p_user_id text,
    p_app_name text,
    p_memory_type text,
    p_category text,
    p_source text,
    p_author text,
    p_thread_id uuid,
    p_from_seq bigint,
    p_to_seq bigint
) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_trust text := coalesce(p_trust, hippocampus._memory_trust(p_user_id, p_app_name, p_memory_type, p_category, p_source, p_author,
        p_thread_id, p_from_seq, p_to_seq));
BEGIN
    IF p_trust IS NULL AND v_trust = 'operator' AND NOT hippocampus._is_trusted() THEN
        RETURN 'user'; -- in whose words a bound login tells of an operator's event is its own choice
    END IF;
    PERFORM hippocampus._check_one_of('p_trust', v_trust, ARRAY['operator', 'user', 'agent', 'tool']);
    RETURN v_trust;
END
$fn$;
COMMENT ON FUNCTION hippocampus._claimed_trust IS
    'Whose words a new memory holds: p_trust, or by default that of its events and its author.';
REVOKE ALL ON FUNCTION hippocampus._claimed_trust FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._claimed_trust TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
