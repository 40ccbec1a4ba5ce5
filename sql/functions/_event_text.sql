-- The text of an event's content, in the shapes that clients send: a string; {"text"} or {"message"} or
-- {"content": "…"}; a list of parts, alone (OpenAI, Anthropic), under "content", or, as Gemini and ADK have it,
-- under "parts", also within "content"; and what an item of OpenAI's Responses gave or refused, its "output" or
-- "refusal". A part is a string, {"text": "…"}, {"text": {"value": "…"}}, or a tool's
-- result, which has content of its own, a string or parts. What a model thought, but did not say, is no text.
CREATE OR REPLACE FUNCTION hippocampus._event_text(
    p_content jsonb
) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    -- the plain shapes first: what is said takes no query
    IF jsonb_typeof(p_content) = 'string' THEN
        RETURN p_content #>> '{}';
    ELSIF jsonb_typeof(p_content -> 'text') = 'string' THEN
        RETURN p_content ->> 'text';
    ELSIF jsonb_typeof(p_content -> 'message') = 'string' THEN
        RETURN p_content ->> 'message';
    ELSIF jsonb_typeof(p_content -> 'content') = 'string' THEN
        RETURN p_content ->> 'content';
    ELSIF jsonb_typeof(p_content -> 'output') = 'string' THEN
        RETURN p_content ->> 'output';
    ELSIF jsonb_typeof(p_content -> 'refusal') = 'string' THEN
        RETURN p_content ->> 'refusal';
    END IF;
    RETURN coalesce((
        SELECT string_agg(t.said, E'\n' ORDER BY a.n, b.n)
        FROM jsonb_array_elements(CASE
                WHEN jsonb_typeof(p_content) = 'array' THEN p_content
                WHEN jsonb_typeof(p_content -> 'parts') = 'array' THEN p_content -> 'parts'
                WHEN jsonb_typeof(p_content #> '{content,parts}') = 'array' THEN p_content #> '{content,parts}'
                WHEN jsonb_typeof(p_content -> 'content') = 'array' THEN p_content -> 'content'
                WHEN jsonb_typeof(p_content -> 'output') = 'array' THEN p_content -> 'output'
                ELSE '[]'::jsonb END) WITH ORDINALITY AS a (part, n)
        CROSS JOIN LATERAL jsonb_array_elements(CASE jsonb_typeof(a.part -> 'content')
                WHEN 'array' THEN a.part -> 'content' ELSE jsonb_build_array(a.part) END) WITH ORDINALITY AS b (part, n)
        CROSS JOIN LATERAL (SELECT CASE
                WHEN jsonb_typeof(b.part) = 'string' THEN b.part #>> '{}'
                WHEN jsonb_typeof(b.part -> 'text') = 'string' THEN b.part ->> 'text'
                WHEN jsonb_typeof(b.part #> '{text,value}') = 'string' THEN b.part #>> '{text,value}'
                WHEN jsonb_typeof(b.part -> 'content') = 'string' THEN b.part ->> 'content' END AS said) t
        WHERE t.said IS NOT NULL AND b.part -> 'thought' IS DISTINCT FROM 'true'), '');
END
$fn$;
COMMENT ON FUNCTION hippocampus._event_text IS 'The text that an event''s content holds; empty where it holds none.';
REVOKE ALL ON FUNCTION hippocampus._event_text FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._event_text TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
