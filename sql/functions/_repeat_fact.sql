-- A fact of remember_facts that is known: the one that is there is strengthened, but by other words only than those
-- that it was drawn from, however often these are read. To the letter the same, its beginning may have been earlier
-- than was known. That it is a lesson may be new.
CREATE OR REPLACE FUNCTION hippocampus._repeat_fact(
    p_user_id text,
    p_app_name text,
    p_id uuid,
    p_fact jsonb,
    p_same_key boolean,
    p_same_words boolean,
    p_trust text,
    p_thread_id uuid,
    p_embedding_model text,
    p_now timestamptz
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC' -- of a time that names no zone, in every session
AS $fn$
DECLARE
    v_old hippocampus.facts;
    v_confidence double precision := coalesce((p_fact ->> 'confidence')::double precision, 1);
    v_intensity double precision := coalesce((p_fact ->> 'intensity')::double precision, 0.5);
BEGIN
    SELECT f.* INTO v_old FROM hippocampus.facts f WHERE f.id = p_id AND f.user_id = p_user_id AND f.app_name = p_app_name;
    IF hippocampus._fact_is_of(p_user_id, p_app_name, p_id, p_thread_id, hippocampus._fact_sequences(p_fact)) THEN
        NULL;
    ELSIF p_same_key AND p_same_words THEN
        PERFORM hippocampus.upsert_fact(p_user_id, p_app_name, v_old.fact_type, v_old.key, v_old.value, v_confidence,
            nullif(p_fact -> 'embedding', 'null')::text::public.vector, p_embedding_model, v_intensity,
            (p_fact ->> 'valid_from')::timestamptz, p_thread_id, p_trust => p_trust, p_now => p_now);
    ELSE
        PERFORM hippocampus._strengthen_fact(p_user_id, p_app_name, p_id, v_intensity, v_confidence, p_thread_id,
            CASE WHEN p_same_words THEN p_trust END, p_now);
    END IF;
    IF v_old.fact_type = 'rule' AND p_fact -> 'metadata' ? 'domain' AND NOT v_old.metadata ? 'domain' THEN
        UPDATE hippocampus.facts f SET metadata = f.metadata || (p_fact -> 'metadata')
        WHERE f.id = p_id AND f.user_id = p_user_id AND f.app_name = p_app_name;
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._repeat_fact IS 'Strengthens a fact that was stated again, unless it was drawn from the very same events.';
REVOKE ALL ON FUNCTION hippocampus._repeat_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._repeat_fact TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
