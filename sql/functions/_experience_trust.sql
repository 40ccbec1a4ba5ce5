-- Whose words an experience holds, by what its memory says, and, where that is an agent, by what tools had said when it
-- was first recorded. Asked before it becomes an instruction: events may be logged after the experience was recorded.
CREATE OR REPLACE FUNCTION hippocampus._experience_trust(
    p_user_id text,
    p_app_name text,
    p_memory_id uuid
) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RETURN (
        SELECT CASE WHEN m.trust = 'agent' AND (hippocampus._repeats_tool(p_user_id, p_app_name, e.task, m.created_at)
            OR hippocampus._repeats_tool(p_user_id, p_app_name, e.insight, m.created_at)) THEN 'tool' ELSE m.trust END
        FROM hippocampus.experiences e
        JOIN hippocampus.memories m ON m.id = e.memory_id AND m.user_id = e.user_id AND m.app_name = e.app_name
        WHERE e.memory_id = p_memory_id AND e.user_id = p_user_id AND e.app_name = p_app_name);
END
$fn$;
COMMENT ON FUNCTION hippocampus._experience_trust IS
    'Whose words an experience holds: its memory''s trust, and tool where an agent''s task or insight repeats what a tool had said.';
REVOKE ALL ON FUNCTION hippocampus._experience_trust FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._experience_trust TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
