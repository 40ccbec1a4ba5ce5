-- The episode that tells an event, if one does. That is the last that begins before it; but where they overlap, as where
-- a client remembered a passage and remember_events one of its turns, that one may have ended. Then another is found by
-- its end, of an index that holds episodes of several events alone, read from the event on.
CREATE OR REPLACE FUNCTION hippocampus._episode_at(
    p_user_id text,
    p_app_name text,
    p_thread_id uuid,
    p_seq bigint
) RETURNS SETOF uuid
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
BEGIN ATOMIC
    SELECT a.id FROM (
        SELECT l.id FROM (
            SELECT m.id, m.to_seq FROM hippocampus.memories m
            WHERE m.thread_id = p_thread_id AND m.from_seq <= p_seq AND m.user_id = p_user_id AND m.app_name = p_app_name
              AND m.memory_type = 'episodic'
            ORDER BY m.from_seq DESC LIMIT 1) l
        WHERE l.to_seq >= p_seq
        UNION ALL (
            SELECT m.id FROM hippocampus.memories m
            WHERE m.thread_id = p_thread_id AND m.to_seq >= p_seq AND m.from_seq <= p_seq AND m.to_seq > m.from_seq
              AND m.user_id = p_user_id AND m.app_name = p_app_name AND m.memory_type = 'episodic'
            ORDER BY m.to_seq LIMIT 1)) a
    LIMIT 1;
END;
COMMENT ON FUNCTION hippocampus._episode_at IS 'The episode that tells an event, of several one; no row for none.';
REVOKE ALL ON FUNCTION hippocampus._episode_at FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._episode_at
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
