-- Whether what a memory was made of is known still: it is there, or has faded and left what it told.
CREATE OR REPLACE FUNCTION hippocampus._is_known_source(
    p_user_id text,
    p_app_name text,
    p_memory_id uuid,
    p_source_id uuid
) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT EXISTS (SELECT FROM hippocampus.memories m WHERE m.id = p_source_id AND m.user_id = p_user_id AND m.app_name = p_app_name)
        OR EXISTS (SELECT FROM hippocampus.faded_sources f
            WHERE f.memory_id = p_memory_id AND f.source_id = p_source_id AND f.user_id = p_user_id AND f.app_name = p_app_name);
END;
COMMENT ON FUNCTION hippocampus._is_known_source IS 'Whether a memory''s source is there, or has faded and is in faded_sources; otherwise it was forgotten.';
REVOKE ALL ON FUNCTION hippocampus._is_known_source FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._is_known_source TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
