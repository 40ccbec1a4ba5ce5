-- Counts a use of memories, facts and events of short-term memory. Rows are locked in the order of their ids,
-- memories first, so that two readers of overlapping sets follow each other and never deadlock.
CREATE OR REPLACE FUNCTION hippocampus.record_access(
    p_user_id text,
    p_app_name text,
    p_ids uuid[],
    p_now timestamptz DEFAULT now()
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_ids uuid[]; -- no join: of a user who is new to the statistics it would compare all rows with all ids
    v_memories integer;
    v_facts integer;
    v_events integer;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_time('p_now', p_now);
    v_ids := ARRAY(
        SELECT m.id FROM hippocampus.memories m
        WHERE m.id = ANY (p_ids) AND m.user_id = p_user_id AND m.app_name = p_app_name
        ORDER BY m.id FOR NO KEY UPDATE);
    UPDATE hippocampus.memories m
    SET (access_count, last_accessed_at, running_intensity, retention_score) = (
        SELECT u.count, u.at, u.intensity, hippocampus._retention(p, m.initial_score, u.intensity, u.count, u.at, m.created_at, p_now)
        FROM hippocampus._retention_policy(p_app_name, m.memory_type, m.category) p
        CROSS JOIN LATERAL (SELECT least(m.access_count, 2147483646) + 1 AS count, greatest(m.last_accessed_at, p_now) AS at,
            least(1.0, m.running_intensity + CASE p.model WHEN 'strength' THEN 0.02 ELSE 0 END) AS intensity) u)
    WHERE m.id = ANY (v_ids) AND m.user_id = p_user_id AND m.app_name = p_app_name;
    GET DIAGNOSTICS v_memories = ROW_COUNT;
    v_ids := ARRAY(
        SELECT f.id FROM hippocampus.facts f
        WHERE f.id = ANY (p_ids) AND f.user_id = p_user_id AND f.app_name = p_app_name
        ORDER BY f.id FOR NO KEY UPDATE);
    UPDATE hippocampus.facts f
    SET access_count = least(f.access_count, 2147483646) + 1, last_accessed_at = greatest(f.last_accessed_at, p_now),
        running_intensity = least(1.0, f.running_intensity + 0.02)
    WHERE f.id = ANY (v_ids) AND f.user_id = p_user_id AND f.app_name = p_app_name;
    GET DIAGNOSTICS v_facts = ROW_COUNT;
    INSERT INTO hippocampus.event_uses AS u (last_accessed_at, sequence_num, thread_id, user_id, app_name)
    SELECT p_now, e.sequence_num, e.thread_id, e.user_id, e.app_name FROM hippocampus.events e
    WHERE e.id = ANY (p_ids) AND e.user_id = p_user_id AND e.app_name = p_app_name
    ORDER BY e.thread_id, e.sequence_num
    ON CONFLICT (thread_id, sequence_num, user_id, app_name) DO UPDATE
    SET access_count = least(u.access_count, 2147483646) + 1, last_accessed_at = greatest(u.last_accessed_at, excluded.last_accessed_at);
    GET DIAGNOSTICS v_events = ROW_COUNT;
    RETURN v_memories + v_facts + v_events;
END
$fn$;
COMMENT ON FUNCTION hippocampus.record_access IS
    'Counts one use of each memory, fact and event of short-term memory: its access count grows by one, its last access is now; the intensity of a fact, and of a memory whose policy is of the model strength, grows by 0.02 (never above 1). Returns how many were found.';
REVOKE ALL ON FUNCTION hippocampus.record_access FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.record_access TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
