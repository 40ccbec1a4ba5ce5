-- A fact that was stated again: its intensity moves towards the new reading, as an average of all; it counts
-- as used now. Told by another conversation too, it no longer belongs to the first alone. A lesson gains
-- confidence. Said in these words by a person (p_trust; null: in other words), it is theirs as well.
CREATE OR REPLACE FUNCTION hippocampus._strengthen_fact(
    p_user_id text,
    p_app_name text,
    p_id uuid,
    p_intensity double precision,
    p_confidence double precision,
    p_thread_id uuid,
    p_trust text,
    p_now timestamptz
) RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
BEGIN ATOMIC
    UPDATE hippocampus.facts f
    SET running_intensity = (f.running_intensity * f.encounter_count + p_intensity) / (f.encounter_count + 1.0),
        encounter_count = least(f.encounter_count, 2147483646) + 1,
        access_count = least(f.access_count, 2147483646) + 1,
        confidence = CASE WHEN f.fact_type = 'rule' AND f.metadata ? 'domain'
            THEN hippocampus._lesson_confidence(p_app_name, f.confidence, true, p_confidence)
            ELSE greatest(f.confidence, p_confidence) END,
        trust = hippocampus._joint_trust(f.trust, p_trust),
        thread_id = CASE WHEN f.thread_id = p_thread_id THEN f.thread_id END,
        last_accessed_at = greatest(f.last_accessed_at, p_now)
    WHERE f.id = p_id AND f.user_id = p_user_id AND f.app_name = p_app_name;
END;
COMMENT ON FUNCTION hippocampus._strengthen_fact IS 'Strengthens a fact that was stated again.';
REVOKE ALL ON FUNCTION hippocampus._strengthen_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._strengthen_fact TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
