-- States a lesson: a rule that was learned, a fact of type rule with a domain and a source. It conflicts as facts
-- do, by its key. The same rule again confirms the one that is there, once for each time that it was said; another
-- rule under the key contradicts it, and takes its place unless it is much less sure than what is left of it.
CREATE OR REPLACE FUNCTION hippocampus.record_lesson(
    p_user_id text,
    p_app_name text,
    p_rule text,
    p_domain text DEFAULT 'general',
    p_confidence double precision DEFAULT 0.8,
    p_source text DEFAULT 'user_correction',
    p_key text DEFAULT NULL,
    p_thread_id uuid DEFAULT NULL,
    p_from_seq bigint DEFAULT NULL,
    p_to_seq bigint DEFAULT NULL,
    p_embedding public.vector DEFAULT NULL,
    p_embedding_model text DEFAULT NULL,
    p_token_count integer DEFAULT NULL,
    p_now timestamptz DEFAULT now()
) RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_key text;
    v_old hippocampus.facts;
    v_same boolean;
    v_id uuid;
    v_to bigint := coalesce(p_to_seq, p_from_seq);
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_size('p_rule', p_rule, 1, 65536);
    PERFORM hippocampus._check_size('p_domain', p_domain, 1, 128);
    PERFORM hippocampus._check_size('p_source', p_source, 1, 255);
    PERFORM hippocampus._check_range('p_confidence', p_confidence, 0, 1);
    PERFORM hippocampus._check_origin(p_user_id, p_app_name, p_thread_id, p_from_seq, p_to_seq);
    -- without a key it is about nothing that another rule is about
    v_key := coalesce(p_key, p_domain || '#' || left(encode(hippocampus._content_hash(p_rule), 'hex'), 8));
    PERFORM hippocampus._check_size('p_key', v_key, 1, 255);
    PERFORM pg_advisory_xact_lock(hashtextextended(
        format('hippocampus.fact %L %L %L %L', p_user_id, p_app_name, 'rule', v_key), 0));
    SELECT f.* INTO v_old FROM hippocampus.facts f
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.fact_type = 'rule' AND f.key = v_key AND f.valid_until IS NULL;
    v_same := hippocampus._content_hash(v_old.value #>> '{}') = hippocampus._content_hash(p_rule);
    IF v_old.id IS NOT NULL THEN
        IF EXISTS (SELECT FROM hippocampus.memory_sources s
                   WHERE s.fact_id = v_old.id AND s.thread_id = p_thread_id AND s.user_id = p_user_id AND s.app_name = p_app_name
                     AND s.from_seq <= v_to AND s.to_seq >= p_from_seq) AND v_same THEN
            -- what is known from these very words is not confirmed by them; that it is a lesson may be new
            UPDATE hippocampus.facts f SET metadata = f.metadata || jsonb_build_object('domain', p_domain, 'source', p_source)
            WHERE f.id = v_old.id AND f.user_id = p_user_id AND f.app_name = p_app_name AND NOT f.metadata ? 'domain';
            RETURN v_old.id;
        END IF;
        PERFORM hippocampus.weigh_lesson(p_user_id, p_app_name, v_old.id, v_same, p_confidence, p_now);
    END IF;
    v_id := hippocampus.upsert_fact(p_user_id, p_app_name, 'rule', v_key, CASE WHEN v_same THEN v_old.value ELSE to_jsonb(p_rule) END,
        CASE WHEN v_same THEN least(p_confidence, v_old.confidence) ELSE p_confidence END, p_embedding, p_embedding_model,
        p_thread_id => p_thread_id, p_metadata => jsonb_build_object('domain', p_domain, 'source', p_source),
        p_token_count => p_token_count, p_now => p_now);
    UPDATE hippocampus.facts f SET metadata = f.metadata || jsonb_build_object('domain', p_domain, 'source', p_source)
    WHERE f.id = v_id AND f.user_id = p_user_id AND f.app_name = p_app_name AND NOT f.metadata ? 'domain';
    IF p_thread_id IS NOT NULL AND p_from_seq IS NOT NULL THEN
        INSERT INTO hippocampus.memory_sources (created_at, from_seq, to_seq, fact_id, thread_id, user_id, app_name)
        VALUES (p_now, p_from_seq, v_to, v_id, p_thread_id, p_user_id, p_app_name);
    END IF;
    RETURN v_id;
END
$fn$;
COMMENT ON FUNCTION hippocampus.record_lesson IS
    'States a lesson (a rule of a domain, how sure, where from) and returns its fact. The same rule again confirms it: its confidence grows by learning_policies.lesson_gain. Another rule under the same p_key contradicts it: its confidence shrinks by lesson_loss, and the new rule takes its place unless it is less sure than that by more than fact_supersede_margin, when it is kept as history. Lists stand in the view lessons.';
REVOKE ALL ON FUNCTION hippocampus.record_lesson FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.record_lesson TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
