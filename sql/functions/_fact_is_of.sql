-- Whether a fact was drawn from some of a thread's events.
CREATE OR REPLACE FUNCTION hippocampus._fact_is_of(
    p_user_id text,
    p_app_name text,
    p_id uuid,
    p_thread_id uuid,
    p_sequences bigint[]
) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT EXISTS (
        SELECT FROM hippocampus.memory_sources s JOIN unnest(p_sequences) AS n (seq) ON n.seq BETWEEN s.from_seq AND s.to_seq
        WHERE s.fact_id = p_id AND s.thread_id = p_thread_id AND s.user_id = p_user_id AND s.app_name = p_app_name);
END;
COMMENT ON FUNCTION hippocampus._fact_is_of IS 'Whether a fact was drawn from some of a thread''s events.';
REVOKE ALL ON FUNCTION hippocampus._fact_is_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._fact_is_of TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
