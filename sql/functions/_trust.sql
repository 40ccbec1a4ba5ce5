-- Whose words an event holds: operator, user, agent or tool. What a tool gave is the tool's, whoever passed it
-- on: an agent that reports a result, or a result that a framework files under the agent's or the user's name.
CREATE OR REPLACE FUNCTION hippocampus._trust(
    p_author text,
    p_event_type text DEFAULT 'message',
    p_category text DEFAULT 'chat',
    p_content jsonb DEFAULT NULL
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT CASE
        WHEN lower(p_author) IN ('tool', 'function') OR p_category = 'tool-use' OR p_event_type ~* '^(tool|function)'
            OR hippocampus._gives_result(p_content) THEN 'tool'
        WHEN lower(p_author) IN ('system', 'operator', 'developer') THEN 'operator'
        WHEN lower(p_author) IN ('agent', 'assistant', 'model', 'bot')
            OR p_content ->> 'role' IN ('model', 'assistant') OR p_content #>> '{content,role}' IN ('model', 'assistant') THEN 'agent'
        ELSE 'user'
    END;
END;
COMMENT ON FUNCTION hippocampus._trust IS
    'Whose words an event holds: operator, user, agent, or tool. A name that says nothing else is a person''s.';
REVOKE ALL ON FUNCTION hippocampus._trust FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._trust
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
