-- What was said again, in the same words, by somebody who is trusted more is theirs as well, where that is a person: an
-- agent that repeats a tool makes it no less the tool's.
CREATE OR REPLACE FUNCTION hippocampus._joint_trust(
    p_known text,
    p_again text
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT CASE WHEN p_again = 'operator' OR p_again = 'user' AND p_known <> 'operator' THEN p_again ELSE p_known END;
END;
COMMENT ON FUNCTION hippocampus._joint_trust IS 'Whose words a row holds that was said again: a person''s, where a person says them.';
REVOKE ALL ON FUNCTION hippocampus._joint_trust FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._joint_trust TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
