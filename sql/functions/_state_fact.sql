-- States a fact. Equal to the current value, it strengthens it. Different and newer, it takes its place, and
-- the old value stays as history, closed at the time that the new one begins. Told to have begun earlier than
-- values that are known, it is placed between them, and cuts short the one that held at that time only; equal to
-- the value that followed, it is that one, which began earlier than was known. Where that one had ended before anything
-- followed (replaced under another key, or a lesson that was refuted), so has the new one, in the same way; what ended it
-- being forgotten, nobody knows that.
-- Much less sure (by more than fact_supersede_margin) than the value that held at that time, it is kept as
-- history that never held, so that a guess does not replace what is known; so is one that a fact of another key
-- contradicts (p_surer_id) which is that much surer. No two values ever hold at once:
-- facts of one key wait for each other, and of a time that nobody gave (p_valid_from null), the one that
-- waited is the newer one, whenever its transaction began.
CREATE OR REPLACE FUNCTION hippocampus._state_fact(
    p_user_id text,
    p_app_name text,
    p_fact_type text,
    p_key text,
    p_value jsonb,
    p_confidence double precision,
    p_embedding public.vector,
    p_embedding_model text,
    p_intensity double precision,
    p_valid_from timestamptz,
    p_thread_id uuid,
    p_metadata jsonb,
    p_token_count integer,
    p_trust text,
    p_surer_id uuid,
    p_now timestamptz
) RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_id uuid := gen_random_uuid();
    v_same hippocampus.facts; -- the value that it is, where it is one that is known
    v_from timestamptz;
    v_current hippocampus.facts;
    v_held hippocampus.facts; -- what held when the new value begins
    v_next hippocampus.facts; -- what is known to have followed
    v_until timestamptz; -- when it is known to have ended
    v_ended boolean; -- as what held then had, and nothing of its key followed
    v_locked integer; -- of these, how many are still there
    v_guess boolean;
    v_earlier boolean; -- the next value is this one, and began now
    v_metadata jsonb;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_fact_arguments(p_fact_type, p_key, p_value, p_confidence, p_intensity, p_valid_from, p_token_count,
        p_trust, p_now);
    PERFORM hippocampus._check_origin(p_user_id, p_app_name, p_thread_id);
    v_metadata := hippocampus._check_object('p_metadata', p_metadata, 262144);
    PERFORM pg_advisory_xact_lock(hashtextextended(
        format('hippocampus.fact %L %L %L %L', p_user_id, p_app_name, p_fact_type, p_key), 0));
    LOOP
        v_from := coalesce(p_valid_from, p_now);
        SELECT f.* INTO v_current FROM hippocampus._facts_of_key(p_user_id, p_app_name, p_fact_type, p_key) f WHERE f.valid_until IS NULL;
        IF p_valid_from IS NULL AND v_current.recorded_at >= p_now AND v_current.valid_from <= v_current.recorded_at THEN
            v_from := greatest(p_now, v_current.valid_from); -- written after this transaction began, and before this call
        END IF;
        SELECT f.* INTO v_held FROM hippocampus._facts_of_key(p_user_id, p_app_name, p_fact_type, p_key) f
        WHERE f.valid_from <= v_from AND (f.valid_until IS NULL OR f.valid_until > v_from);
        SELECT f.* INTO v_next FROM hippocampus._facts_of_key(p_user_id, p_app_name, p_fact_type, p_key) f
        WHERE f.valid_from > v_from AND (f.valid_until IS NULL OR f.valid_until > f.valid_from)
        ORDER BY f.valid_from LIMIT 1;
        PERFORM FROM hippocampus.facts f -- nobody forgets what the new value will refer to
        WHERE f.id IN (v_current.id, v_held.id, v_next.id) AND f.user_id = p_user_id AND f.app_name = p_app_name
        ORDER BY f.id FOR KEY SHARE;
        GET DIAGNOSTICS v_locked = ROW_COUNT;
        EXIT WHEN v_locked = (SELECT count(DISTINCT k.id) FROM unnest(ARRAY[v_current.id, v_held.id, v_next.id]) AS k (id));
    END LOOP;
    v_guess := p_surer_id IS NOT NULL OR coalesce(p_confidence < v_held.confidence
        - (hippocampus._setting(p_app_name, 'fact_supersede_margin'))::double precision, false);
    v_until := CASE WHEN v_guess THEN v_from WHEN v_held.superseded_by IS NULL AND v_held.closed_by IS NOT NULL THEN v_next.valid_from
        ELSE least(v_held.valid_until, v_next.valid_from) END;
    v_ended := NOT v_guess AND v_until IS DISTINCT FROM v_next.valid_from;
    v_earlier := coalesce(v_next.value = p_value, false) AND NOT v_guess AND NOT v_ended AND v_held.value IS DISTINCT FROM p_value;
    v_same := CASE WHEN v_earlier THEN v_next WHEN v_current.value = p_value THEN v_current WHEN v_held.value = p_value THEN v_held END;
    IF v_same.id IS NOT NULL THEN
        PERFORM hippocampus._restate_fact(v_same, CASE WHEN v_earlier THEN v_from END, p_confidence, p_embedding, p_embedding_model,
            p_intensity, p_thread_id, p_trust, p_now);
    END IF;
    IF NOT v_guess AND v_held.value IS DISTINCT FROM p_value THEN
        UPDATE hippocampus.facts f
        SET valid_until = v_from, closed_at = greatest(p_now, f.recorded_at), closed_by = 'key',
            superseded_by = CASE WHEN v_earlier THEN v_same.id ELSE v_id END
        WHERE f.id = v_held.id AND f.user_id = p_user_id AND f.app_name = p_app_name;
    END IF;
    IF v_same.id IS NOT NULL AND (v_guess OR v_earlier OR v_held.value = p_value) THEN
        RETURN v_same.id;
    END IF;
    IF p_embedding IS NOT NULL THEN
        PERFORM hippocampus._store_embedding(p_user_id, p_app_name, 'fact', v_id, p_embedding, p_embedding_model);
    END IF;
    INSERT INTO hippocampus.facts (recorded_at, valid_from, valid_until, closed_at, last_accessed_at, confidence,
        running_intensity, token_count, token_count_exact, id, thread_id, superseded_by, user_id, app_name, fact_type,
        key, trust, closed_by, closed_reason, value, metadata)
    VALUES (p_now, v_from, v_until, CASE WHEN v_until IS NOT NULL THEN p_now END, p_now, p_confidence,
        p_intensity, coalesce(p_token_count, hippocampus.estimate_tokens(hippocampus._fact_text(p_key, p_value))),
        p_token_count IS NOT NULL, v_id, p_thread_id, CASE WHEN v_guess THEN coalesce(p_surer_id, v_held.id)
            WHEN v_ended THEN v_held.superseded_by ELSE v_next.id END,
        p_user_id, p_app_name, p_fact_type, p_key, p_trust, CASE WHEN v_ended THEN v_held.closed_by WHEN NOT v_guess AND v_next.id IS NOT NULL THEN 'key' END,
        CASE WHEN v_ended THEN v_held.closed_reason END, p_value, v_metadata);
    RETURN coalesce(v_same.id, v_id);
END
$fn$;
COMMENT ON FUNCTION hippocampus._state_fact IS 'States a fact: what upsert_fact does, and remember_facts where a fact of another key is much surer.';
REVOKE ALL ON FUNCTION hippocampus._state_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._state_fact TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
