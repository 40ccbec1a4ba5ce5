-- What was drawn from several is trusted as the least of them.
CREATE OR REPLACE FUNCTION hippocampus._least_trust(
    p_trusts text[]
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT t.trust FROM unnest(p_trusts) AS t (trust) WHERE t.trust IS NOT NULL
    ORDER BY array_position(ARRAY['tool', 'agent', 'user', 'operator'], t.trust) LIMIT 1;
END;
COMMENT ON FUNCTION hippocampus._least_trust IS 'The least of some trusts: tool before agent before user before operator.';
REVOKE ALL ON FUNCTION hippocampus._least_trust FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._least_trust
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
