-- Where the log tells, as they hold now, facts that some events told otherwise. Only what was drawn from these events
-- alone counts: a fact whose source is a whole conversation says nothing of its single turns.
CREATE OR REPLACE FUNCTION hippocampus._heirs(
    p_user_id text,
    p_app_name text,
    p_thread_id uuid,
    p_from_seq bigint,
    p_to_seq bigint
) RETURNS TABLE (thread_id uuid, seq bigint)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
BEGIN ATOMIC
    SELECT n.thread_id, n.from_seq
    FROM (SELECT s.fact_id FROM hippocampus.memory_sources s
          WHERE s.thread_id = p_thread_id AND s.from_seq BETWEEN p_from_seq AND p_to_seq AND s.to_seq <= p_to_seq
            AND s.user_id = p_user_id AND s.app_name = p_app_name AND s.fact_id IS NOT NULL LIMIT 20) t
    CROSS JOIN LATERAL (
        SELECT f.fact_type, f.key, f.value FROM hippocampus.facts f
        WHERE f.id = t.fact_id AND f.user_id = p_user_id AND f.app_name = p_app_name AND f.valid_until IS NOT NULL LIMIT 1) old
    CROSS JOIN LATERAL (
        SELECT g.id FROM hippocampus.facts g
        WHERE g.user_id = p_user_id AND g.app_name = p_app_name AND g.fact_type = old.fact_type AND g.key = old.key
          AND g.valid_until IS NULL AND g.value <> old.value LIMIT 1) current
    CROSS JOIN LATERAL (
        SELECT c.thread_id, c.from_seq FROM hippocampus.memory_sources c
        WHERE c.fact_id = current.id AND c.user_id = p_user_id AND c.app_name = p_app_name AND c.from_seq = c.to_seq LIMIT 20) n;
END;
COMMENT ON FUNCTION hippocampus._heirs IS 'Where the log tells, as they hold now, facts that some events told otherwise.';
REVOKE ALL ON FUNCTION hippocampus._heirs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._heirs
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
