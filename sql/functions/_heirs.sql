-- Where the log tells, as they hold now, facts that some events told otherwise (_told_facts).
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
    FROM hippocampus._told_facts(p_user_id, p_app_name, p_thread_id, p_from_seq, p_to_seq) f
    CROSS JOIN LATERAL (
        SELECT c.thread_id, c.from_seq FROM hippocampus.memory_sources c
        WHERE c.fact_id = f.id AND c.user_id = p_user_id AND c.app_name = p_app_name AND c.from_seq = c.to_seq LIMIT 20) n
    WHERE f.otherwise;
END;
COMMENT ON FUNCTION hippocampus._heirs IS 'Where the log tells, as they hold now, facts that some events told otherwise.';
REVOKE ALL ON FUNCTION hippocampus._heirs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._heirs
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
