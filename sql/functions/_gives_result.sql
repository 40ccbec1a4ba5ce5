-- Whether an event's content holds what a tool gave, in the shapes of the models' APIs: Gemini's functionResponse,
-- Anthropic's tool_result and those of its own tools (web_search_tool_result, …), OpenAI's function_call_output. These
-- come in messages of the user's or the model's role.
CREATE OR REPLACE FUNCTION hippocampus._gives_result(
    p_content jsonb
) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT coalesce(p_content @? 'lax $.**.parts[*] ? (exists (@.functionResponse) || exists (@.function_response))'
        OR p_content @? 'lax $.** ? (@.type like_regex "tool[-_]?result$|call_output$")', false);
END;
COMMENT ON FUNCTION hippocampus._gives_result IS
    'Whether an event''s content holds what a tool gave, as Gemini, Anthropic and OpenAI write it; false for null.';
REVOKE ALL ON FUNCTION hippocampus._gives_result FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._gives_result
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
