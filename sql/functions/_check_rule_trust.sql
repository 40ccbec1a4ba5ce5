-- A rule tells an agent what to do, in every window of its user. What a tool gave, a page or a file, may say so too,
-- and is not obeyed.
CREATE OR REPLACE FUNCTION hippocampus._check_rule_trust(
    p_fact_type text,
    p_key text,
    p_trust text
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF p_fact_type = 'rule' AND p_trust = 'tool' THEN
        RAISE EXCEPTION 'rule % holds the words of a tool', quote_literal(left(p_key, 100))
            USING ERRCODE = 'HC009', HINT = 'Say what to do in a person''s own words, or state it as another fact_type.';
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_rule_trust IS 'Raises HC009 for a rule that holds the words of a tool.';
REVOKE ALL ON FUNCTION hippocampus._check_rule_trust FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_rule_trust TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
