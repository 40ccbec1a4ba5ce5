-- States a fact. Equal to the current value, it strengthens it. Different and newer, it takes its place, and
-- the old value stays as history, closed at the time that the new one begins. Different but earlier, it is
-- placed in the history. Different and much less sure (by more than fact_supersede_margin), it is kept as
-- history that never held, so that a guess does not replace what is known. Facts of one key wait for each
-- other: many writers at once leave one current value.
CREATE OR REPLACE FUNCTION hippocampus.upsert_fact(
    p_user_id text,
    p_app_name text,
    p_fact_type text,
    p_key text,
    p_value jsonb,
    p_confidence double precision DEFAULT 1.0,
    p_embedding public.vector DEFAULT NULL,
    p_embedding_model text DEFAULT NULL,
    p_intensity double precision DEFAULT 0.5,
    p_valid_from timestamptz DEFAULT NULL,
    p_thread_id uuid DEFAULT NULL,
    p_metadata jsonb DEFAULT '{}',
    p_token_count integer DEFAULT NULL,
    p_now timestamptz DEFAULT now()
) RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_id uuid := gen_random_uuid();
    v_from timestamptz := coalesce(p_valid_from, p_now);
    v_until timestamptz;
    v_successor uuid;
    v_current hippocampus.facts;
    v_margin double precision;
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_one_of('p_fact_type', p_fact_type, ARRAY['preference', 'rule', 'profile', 'custom']);
    PERFORM hippocampus._check_size('p_key', p_key, 1, 255);
    PERFORM hippocampus._check_size('p_value', p_value::text, 1, 262144);
    PERFORM hippocampus._check_range('p_confidence', p_confidence, 0, 1);
    PERFORM hippocampus._check_range('p_intensity', p_intensity, 0, 1);
    PERFORM pg_advisory_xact_lock(hashtextextended(
        format('hippocampus.fact %L %L %L %L', p_user_id, p_app_name, p_fact_type, p_key), 0));
    SELECT f.* INTO v_current FROM hippocampus.facts f
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.fact_type = p_fact_type AND f.key = p_key
      AND f.valid_until IS NULL;
    IF v_current.value = p_value THEN
        UPDATE hippocampus.facts f
        SET running_intensity = (f.running_intensity * f.encounter_count + p_intensity) / (f.encounter_count + 1),
            encounter_count = f.encounter_count + 1,
            confidence = greatest(f.confidence, p_confidence),
            valid_from = least(f.valid_from, v_from),
            last_accessed_at = greatest(f.last_accessed_at, p_now)
        WHERE f.id = v_current.id AND f.user_id = p_user_id AND f.app_name = p_app_name;
        RETURN v_current.id;
    END IF;
    v_margin := (hippocampus._setting(p_app_name, 'fact_supersede_margin'))::double precision;
    IF v_current.id IS NOT NULL AND p_confidence < v_current.confidence - v_margin THEN
        v_until := v_from; -- a guess: recorded, and never true at any time
        v_successor := v_current.id;
    ELSIF v_current.id IS NOT NULL AND v_from < v_current.valid_from THEN
        -- learned late: it held until the next value that is known began
        SELECT f.valid_from, f.id INTO v_until, v_successor FROM hippocampus.facts f
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.fact_type = p_fact_type AND f.key = p_key
          AND f.valid_from > v_from AND (f.valid_until IS NULL OR f.valid_until > f.valid_from)
        ORDER BY f.valid_from LIMIT 1;
    END IF;
    IF v_until IS DISTINCT FROM v_from THEN
        -- the value that held at this time ends where the new one begins
        UPDATE hippocampus.facts f
        SET valid_until = v_from, closed_at = p_now, superseded_by = v_id
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.fact_type = p_fact_type AND f.key = p_key
          AND f.valid_from <= v_from AND (f.valid_until IS NULL OR f.valid_until > v_from);
    END IF;
    IF p_embedding IS NOT NULL THEN
        PERFORM hippocampus.put_embedding(p_user_id, p_app_name, 'fact', v_id, p_embedding, p_embedding_model);
    END IF;
    INSERT INTO hippocampus.facts (recorded_at, valid_from, valid_until, closed_at, last_accessed_at, confidence,
        running_intensity, token_count, token_count_exact, id, thread_id, superseded_by, user_id, app_name, fact_type,
        key, value, metadata)
    VALUES (p_now, v_from, v_until, CASE WHEN v_until IS NOT NULL THEN p_now END, p_now, p_confidence,
        p_intensity, coalesce(p_token_count, hippocampus.estimate_tokens(hippocampus._fact_text(p_key, p_value))),
        p_token_count IS NOT NULL, v_id, p_thread_id, v_successor, p_user_id, p_app_name, p_fact_type,
        p_key, p_value, p_metadata);
    RETURN v_id;
END
$fn$;
COMMENT ON FUNCTION hippocampus.upsert_fact IS
    'States a fact and returns its row. An equal current value is strengthened; a newer value takes its place and the old one stays as history; an earlier one (p_valid_from) is placed in the history; one less sure than the current by more than the setting fact_supersede_margin is kept as history only.';
REVOKE ALL ON FUNCTION hippocampus.upsert_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.upsert_fact TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
