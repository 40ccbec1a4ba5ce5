-- The text of an event's content, in the shapes that clients send: a string; {"text"} or {"message"} or
-- {"content": "…"}; ADK's {"parts": [{"text"}]}, also under "content"; OpenAI's {"content": [{"text"}]}.
CREATE OR REPLACE FUNCTION hippocampus._event_text(
    p_content jsonb
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT CASE
        WHEN jsonb_typeof(p_content) = 'string' THEN p_content #>> '{}'
        WHEN jsonb_typeof(p_content -> 'text') = 'string' THEN p_content ->> 'text'
        WHEN jsonb_typeof(p_content -> 'message') = 'string' THEN p_content ->> 'message'
        WHEN jsonb_typeof(p_content -> 'content') = 'string' THEN p_content ->> 'content'
        ELSE coalesce((
            SELECT string_agg(part ->> 'text', E'\n' ORDER BY n)
            FROM jsonb_array_elements(CASE
                    WHEN jsonb_typeof(p_content -> 'parts') = 'array' THEN p_content -> 'parts'
                    WHEN jsonb_typeof(p_content #> '{content,parts}') = 'array' THEN p_content #> '{content,parts}'
                    WHEN jsonb_typeof(p_content -> 'content') = 'array' THEN p_content -> 'content'
                    ELSE '[]'::jsonb END) WITH ORDINALITY AS a (part, n)
            WHERE jsonb_typeof(part -> 'text') = 'string'), '')
    END;
END;
COMMENT ON FUNCTION hippocampus._event_text IS 'The text that an event''s content holds; empty where it holds none.';
REVOKE ALL ON FUNCTION hippocampus._event_text FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._event_text TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
