-- Whether retention leaves a memory alone, however faint it is: a skill, which is the operator's file, and an experience
-- that is an instruction of the app. By that experience its words are found when its user forgets them, and an
-- instruction that all users follow is not to end because one of them has not read where it came from.
CREATE OR REPLACE FUNCTION hippocampus._is_pinned(
    p_user_id text,
    p_app_name text,
    p_memory_id uuid
) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RETURN EXISTS (SELECT FROM hippocampus.named_memories n
            WHERE n.memory_id = p_memory_id AND n.user_id = p_user_id AND n.app_name = p_app_name AND n.kind = 'skill')
        OR EXISTS (SELECT FROM hippocampus.experiences e
            WHERE e.memory_id = p_memory_id AND e.user_id = p_user_id AND e.app_name = p_app_name AND e.instruction_key IS NOT NULL);
END
$fn$;
COMMENT ON FUNCTION hippocampus._is_pinned IS
    'Whether retention leaves a memory alone: a skill, or an experience that became an instruction.';
REVOKE ALL ON FUNCTION hippocampus._is_pinned FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._is_pinned
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
