-- Whether an event's content holds what a tool gave, in the shapes of the models' APIs: Gemini's functionResponse and
-- codeExecutionResult, Anthropic's tool_result, those of its own tools (web_search_tool_result, …) and search_result,
-- OpenAI's function_call_output and the calls that it answers itself (mcp_call, …), Bedrock's toolResult, LangChain's
-- type tool; or has the role of one. These come in messages of the user's or the model's role. A call of OpenAI's is of
-- type function, too, but holds what the model asked ({"function": …}), not what it got.
CREATE OR REPLACE FUNCTION hippocampus._gives_result(
    p_content jsonb
) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT coalesce(p_content @? 'lax $.** ? (@.type like_regex "(tool|function|search)[-_]?result$|call_output$|^(mcp|file_search|web_search|code_interpreter)_call$"
                || @.type like_regex "^(tool|function)$" && !exists (@.function)
                || exists (@.functionResponse) || exists (@.function_response) || exists (@.toolResult)
                || exists (@.codeExecutionResult) || exists (@.code_execution_result))'
        OR coalesce(p_content ->> 'role', p_content #>> '{content,role}') IN ('tool', 'function'), false);
END;
COMMENT ON FUNCTION hippocampus._gives_result IS
    'Whether an event''s content holds what a tool gave, as Gemini, Anthropic, OpenAI and others write it; false for null.';
REVOKE ALL ON FUNCTION hippocampus._gives_result FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._gives_result
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
