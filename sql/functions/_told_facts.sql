-- The facts that hold, of the keys that some events told, and whether they told them otherwise: who says where they
-- lived tells of the key of where they live. Only what was drawn from these events alone counts: a fact whose source is
-- a whole conversation says nothing of its single turns.
CREATE OR REPLACE FUNCTION hippocampus._told_facts(
    p_user_id text,
    p_app_name text,
    p_thread_id uuid,
    p_from_seq bigint,
    p_to_seq bigint
) RETURNS TABLE (id uuid, otherwise boolean)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
BEGIN ATOMIC
    SELECT g.id, k.valid_until IS NOT NULL AND g.value <> k.value
    FROM (SELECT s.fact_id FROM hippocampus.memory_sources s
          WHERE s.thread_id = p_thread_id AND s.from_seq BETWEEN p_from_seq AND p_to_seq AND s.to_seq <= p_to_seq
            AND s.user_id = p_user_id AND s.app_name = p_app_name AND s.fact_id IS NOT NULL LIMIT 20) t
    CROSS JOIN LATERAL (
        SELECT f.fact_type, f.key, f.value, f.valid_until FROM hippocampus.facts f
        WHERE f.id = t.fact_id AND f.user_id = p_user_id AND f.app_name = p_app_name LIMIT 1) k
    CROSS JOIN LATERAL (
        SELECT f.id, f.value FROM hippocampus.facts f
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.fact_type = k.fact_type AND f.key = k.key
          AND f.valid_until IS NULL LIMIT 1) g;
END;
COMMENT ON FUNCTION hippocampus._told_facts IS 'The facts that hold of the keys that some events told, and whether they told them otherwise.';
REVOKE ALL ON FUNCTION hippocampus._told_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._told_facts
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
