-- How far a thread is consolidated, for a kind of consolidation: an app that only replays never reflects, and
-- its threads are done all the same.
CREATE OR REPLACE FUNCTION hippocampus._consolidated_seq(
    p_thread hippocampus.threads,
    p_job_type text
) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT CASE p_job_type WHEN 'fast_replay' THEN (p_thread).replayed_seq WHEN 'deep_reflection' THEN (p_thread).reflected_seq
        ELSE least((p_thread).replayed_seq, (p_thread).reflected_seq) END;
END;
COMMENT ON FUNCTION hippocampus._consolidated_seq IS 'The watermark of a thread that a kind of consolidation moves.';
REVOKE ALL ON FUNCTION hippocampus._consolidated_seq FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._consolidated_seq
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
