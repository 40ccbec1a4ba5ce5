-- A value that was stated again (p_known, as it was): it is strengthened, and a vector that comes along is its own.
-- Known now to have begun earlier (p_from; null: it keeps its beginning), it moves there; what was believed of
-- it until now stays, as history that was corrected now, with where that came from: it goes when that is forgotten. That
-- an operator believed it a bound login may not write, of history neither.
CREATE OR REPLACE FUNCTION hippocampus._restate_fact(
    p_known hippocampus.facts,
    p_from timestamptz,
    p_confidence double precision,
    p_embedding public.vector,
    p_embedding_model text,
    p_intensity double precision,
    p_thread_id uuid,
    p_trust text,
    p_now timestamptz
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_id uuid := gen_random_uuid(); -- of what was believed
BEGIN
    PERFORM hippocampus._strengthen_fact(p_known.user_id, p_known.app_name, p_known.id, p_intensity, p_confidence, p_thread_id, p_trust, p_now);
    IF p_embedding IS NOT NULL THEN
        PERFORM hippocampus._store_embedding(p_known.user_id, p_known.app_name, 'fact', p_known.id, p_embedding, p_embedding_model);
    END IF;
    IF p_from IS NULL THEN
        RETURN;
    END IF;
    UPDATE hippocampus.facts f SET recorded_at = greatest(f.recorded_at, p_now), valid_from = p_from
    WHERE f.id = p_known.id AND f.user_id = p_known.user_id AND f.app_name = p_known.app_name;
    IF p_known.recorded_at < p_now THEN
        INSERT INTO hippocampus.facts (recorded_at, valid_from, valid_until, closed_at, last_accessed_at, confidence, running_intensity,
            token_count, token_count_exact, id, thread_id, superseded_by, user_id, app_name, fact_type, key, trust, value, metadata)
        VALUES (p_known.recorded_at, p_known.valid_from, p_known.valid_from, p_now, p_known.last_accessed_at, p_known.confidence,
            p_known.running_intensity, p_known.token_count, p_known.token_count_exact, v_id, p_known.thread_id, p_known.id, p_known.user_id,
            p_known.app_name, p_known.fact_type, p_known.key,
            CASE WHEN p_known.trust = 'operator' AND NOT hippocampus._is_trusted() THEN 'user' ELSE p_known.trust END, p_known.value, p_known.metadata);
        INSERT INTO hippocampus.memory_sources (created_at, from_seq, to_seq, fact_id, thread_id, job_id, user_id, app_name, model)
        SELECT s.created_at, s.from_seq, s.to_seq, v_id, s.thread_id, s.job_id, s.user_id, s.app_name, s.model
        FROM hippocampus.memory_sources s WHERE s.fact_id = p_known.id AND s.user_id = p_known.user_id AND s.app_name = p_known.app_name;
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._restate_fact IS
    'Strengthens a value that was stated again, and moves its beginning back where it is known to have begun earlier.';
REVOKE ALL ON FUNCTION hippocampus._restate_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._restate_fact TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
