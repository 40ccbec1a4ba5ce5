-- Whose words a memory holds: the least of the events that it tells, and of its author. What a model wrote about
-- them, a summary or an insight, is an agent's at best. The events are read in their order, which the key alone has: by
-- another index, and for a memory of no thread, all that the user ever said would be read.
CREATE OR REPLACE FUNCTION hippocampus._memory_trust(
    p_user_id text,
    p_app_name text,
    p_memory_type text,
    p_category text,
    p_source text,
    p_author text,
    p_thread_id uuid,
    p_from_seq bigint,
    p_to_seq bigint
) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT coalesce(hippocampus._least_trust(ARRAY(
            SELECT hippocampus._trust(e.author, e.event_type, e.category, e.content) FROM hippocampus.events e
            WHERE p_from_seq IS NOT NULL AND e.thread_id = p_thread_id AND e.sequence_num BETWEEN p_from_seq AND coalesce(p_to_seq, p_from_seq)
              AND e.user_id = p_user_id AND e.app_name = p_app_name
            ORDER BY e.sequence_num)
        || CASE WHEN p_source IN ('fast_replay', 'deep_reflection', 'sleep') AND p_memory_type <> 'episodic' THEN 'agent' END
        || CASE WHEN p_author IS NOT NULL THEN hippocampus._trust(p_author, NULL, p_category) END
        || CASE WHEN p_category = 'tool-use' THEN 'tool' END), 'user');
END;
COMMENT ON FUNCTION hippocampus._memory_trust IS
    'Whose words a memory holds: the least of its events, its author, and, where a model wrote it, agent. Without any of them, the user''s.';
REVOKE ALL ON FUNCTION hippocampus._memory_trust FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._memory_trust TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
