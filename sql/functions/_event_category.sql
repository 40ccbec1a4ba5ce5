-- The category of an event: its writer's, chat by default. What a tool gave is no chat, under whatever role it came.
CREATE OR REPLACE FUNCTION hippocampus._event_category(
    p_category text,
    p_content jsonb
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT CASE WHEN coalesce(p_category, 'chat') <> 'chat' THEN p_category
        WHEN hippocampus._gives_result(p_content) THEN 'tool-use' ELSE 'chat' END;
END;
COMMENT ON FUNCTION hippocampus._event_category IS
    'An event''s category: chat where its writer gave none, tool-use where its content holds what a tool gave.';
REVOKE ALL ON FUNCTION hippocampus._event_category FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._event_category
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
