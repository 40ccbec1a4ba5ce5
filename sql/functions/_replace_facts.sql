-- A fact of remember_facts that is not known: stored, in place of those that it retires. A lesson that it contradicts
-- loses confidence first, so that one that was sure may stay; and ends where it is below the policy's floor. Whether
-- it is a guess, by more than fact_supersede_margin less sure than any of them, is known before any of them ends.
CREATE OR REPLACE FUNCTION hippocampus._replace_facts(
    p_user_id text,
    p_app_name text,
    p_fact_type text,
    p_key text,
    p_fact jsonb,
    p_retired jsonb[],
    p_trust text,
    p_thread_id uuid,
    p_embedding_model text,
    p_now timestamptz
) RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC' -- of a time that names no zone, in every session
AS $fn$
DECLARE
    v_confidence double precision := coalesce((p_fact ->> 'confidence')::double precision, 1);
    v_lessons uuid[];
    v_surer_id uuid; -- of another key: upsert_fact compares with that of its own
    v_id uuid;
BEGIN
    WITH contradicted AS (
        UPDATE hippocampus.facts f SET confidence = hippocampus._lesson_confidence(p_app_name, f.confidence, false, v_confidence)
        WHERE f.id IN (SELECT (r ->> 'id')::uuid FROM unnest(p_retired) r) AND f.user_id = p_user_id AND f.app_name = p_app_name
          AND f.fact_type = 'rule' AND f.metadata ? 'domain'
          AND NOT hippocampus._fact_is_of(p_user_id, p_app_name, f.id, p_thread_id, hippocampus._fact_sequences(p_fact))
        RETURNING f.id
    ) SELECT array_agg(c.id) INTO v_lessons FROM contradicted c;
    SELECT f.id INTO v_surer_id FROM hippocampus.facts f
    WHERE f.id IN (SELECT (r ->> 'id')::uuid FROM unnest(p_retired) r) AND f.user_id = p_user_id AND f.app_name = p_app_name
      AND (f.fact_type, f.key) <> (p_fact_type, p_key)
      AND v_confidence < f.confidence - hippocampus._setting(p_app_name, 'fact_supersede_margin')::double precision
    ORDER BY f.confidence DESC, f.id LIMIT 1 FOR KEY SHARE; -- as _state_fact holds what it refers to
    v_id := hippocampus._state_fact(p_user_id, p_app_name, p_fact_type, p_key, p_fact -> 'value', v_confidence,
        nullif(p_fact -> 'embedding', 'null')::text::public.vector, p_embedding_model,
        coalesce((p_fact ->> 'intensity')::double precision, 0.5),
        (p_fact ->> 'valid_from')::timestamptz, p_thread_id, coalesce(nullif(p_fact -> 'metadata', 'null'), '{}'),
        (p_fact ->> 'token_count')::integer, p_trust, v_surer_id, p_now);
    PERFORM hippocampus._retire_facts(p_user_id, p_app_name, v_id, p_retired, p_now);
    UPDATE hippocampus.facts f SET valid_until = greatest(p_now, f.valid_from), closed_at = greatest(p_now, f.recorded_at)
    WHERE f.id = ANY (v_lessons) AND f.user_id = p_user_id AND f.app_name = p_app_name AND f.valid_until IS NULL
      AND f.confidence < (hippocampus._learning_policy(p_app_name)).lesson_floor;
    RETURN v_id;
END
$fn$;
COMMENT ON FUNCTION hippocampus._replace_facts IS 'Stores a fact in place of those that it retires; lessons that it contradicts lose confidence.';
REVOKE ALL ON FUNCTION hippocampus._replace_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._replace_facts TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
