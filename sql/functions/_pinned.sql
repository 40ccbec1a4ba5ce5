-- Which of some memories retention leaves alone, however faint they are: a skill, which is the operator's file, and an
-- experience that is an instruction of the app. By that experience its words are found when its user forgets them, and
-- an instruction that all users follow is not to end because one of them has not read where it came from.
CREATE OR REPLACE FUNCTION hippocampus._pinned(
    p_ids uuid[],
    p_user_ids text[],
    p_app_names text[]
) RETURNS SETOF uuid
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 10
BEGIN ATOMIC
    SELECT g.id FROM unnest(p_ids, p_user_ids, p_app_names) AS g (id, user_id, app_name)
    CROSS JOIN LATERAL (
        SELECT FROM hippocampus.named_memories n
        WHERE n.memory_id = g.id AND n.user_id = g.user_id AND n.app_name = g.app_name AND n.kind = 'skill' LIMIT 1) s
    UNION
    SELECT g.id FROM unnest(p_ids, p_user_ids, p_app_names) AS g (id, user_id, app_name)
    CROSS JOIN LATERAL (
        SELECT FROM hippocampus.experiences e
        WHERE e.memory_id = g.id AND e.user_id = g.user_id AND e.app_name = g.app_name AND e.instruction_key IS NOT NULL LIMIT 1) x;
END;
COMMENT ON FUNCTION hippocampus._pinned IS
    'Which of some memories retention leaves alone: a skill, or an experience that became an instruction.';
REVOKE ALL ON FUNCTION hippocampus._pinned FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._pinned
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
