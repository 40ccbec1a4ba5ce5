-- The episode that tells an event, if one does: of several, as where a client remembered a passage and remember_events
-- each of its turns, the one that tells the least beside it. One that begins before the event is found by its end: of
-- an index that holds those of several events alone, and these from the event on.
CREATE OR REPLACE FUNCTION hippocampus._episode_at(
    p_user_id text,
    p_app_name text,
    p_thread_id uuid,
    p_seq bigint
) RETURNS SETOF uuid
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
BEGIN ATOMIC
    SELECT a.id FROM (
        SELECT m.id, m.to_seq - m.from_seq AS beside FROM hippocampus.memories m
        WHERE m.thread_id = p_thread_id AND m.from_seq = p_seq AND m.user_id = p_user_id AND m.app_name = p_app_name
          AND m.memory_type = 'episodic'
        UNION ALL
        SELECT m.id, m.to_seq - m.from_seq FROM hippocampus.memories m
        WHERE m.thread_id = p_thread_id AND m.to_seq >= p_seq AND m.from_seq < p_seq AND m.to_seq > m.from_seq
          AND m.user_id = p_user_id AND m.app_name = p_app_name AND m.memory_type = 'episodic') a
    ORDER BY a.beside, a.id LIMIT 1;
END;
COMMENT ON FUNCTION hippocampus._episode_at IS 'The episode that tells an event, the shortest of several; no row for none.';
REVOKE ALL ON FUNCTION hippocampus._episode_at FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._episode_at
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
