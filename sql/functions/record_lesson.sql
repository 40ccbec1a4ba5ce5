-- States a lesson: a rule that was learned, a fact of type rule with a domain and a source. It is compared with the
-- rules that are known as remember_facts compares facts: by meaning, and by its key where it has one of its own.
-- Confirmed, the rule that is there gains confidence; contradicted, it loses some, and gives way unless it is still
-- much surer. The words that it was drawn from confirm it once.
CREATE OR REPLACE FUNCTION hippocampus.record_lesson(
    p_user_id text,
    p_app_name text,
    p_rule text,
    p_domain text DEFAULT 'general',
    p_confidence double precision DEFAULT 0.8,
    p_source text DEFAULT 'user_correction',
    p_key text DEFAULT NULL,
    p_thread_id uuid DEFAULT NULL,
    p_sequences bigint[] DEFAULT '{}',
    p_trust text DEFAULT 'user',
    p_embedding public.vector DEFAULT NULL,
    p_embedding_model text DEFAULT NULL,
    p_token_count integer DEFAULT NULL,
    p_decisions jsonb DEFAULT '[]',
    p_undecided text DEFAULT 'resolve',
    p_dry_run boolean DEFAULT false,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.fact_outcomes
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_fact jsonb;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_size('p_rule', p_rule, 1, 65536);
    PERFORM hippocampus._check_size('p_domain', p_domain, 1, 128);
    PERFORM hippocampus._check_size('p_source', p_source, 1, 255);
    PERFORM hippocampus._check_range('p_confidence', p_confidence, 0, 1);
    PERFORM hippocampus._check_size('p_key', coalesce(p_key, p_domain), 1, 255);
    PERFORM hippocampus._check_origin(p_user_id, p_app_name, p_thread_id);
    v_fact := jsonb_build_object('fact_type', 'rule', 'key', coalesce(p_key, p_domain), 'shared_key', p_key IS NULL, 'value', p_rule,
        'confidence', p_confidence, 'metadata', jsonb_build_object('domain', p_domain, 'source', p_source), 'trust', p_trust,
        'sequences', to_jsonb(coalesce(p_sequences, '{}')), 'embedding', p_embedding::text::jsonb, 'token_count', p_token_count,
        'decisions', p_decisions);
    PERFORM hippocampus._check_fact(1, v_fact);
    PERFORM hippocampus._check_rule_trust('rule', coalesce(p_key, p_domain),
        hippocampus._fact_trust(p_user_id, p_app_name, v_fact, p_thread_id, p_now));
    RETURN QUERY SELECT r.* FROM hippocampus.remember_facts(p_user_id, p_app_name, jsonb_build_array(v_fact), p_thread_id,
        p_embedding_model, p_undecided, p_dry_run, p_now => p_now) r;
END
$fn$;
COMMENT ON FUNCTION hippocampus.record_lesson IS
    'States a lesson (a rule of a domain, how sure, where from) and returns what became of it, as remember_facts does. A duplicate confirms the rule that is there: its confidence grows by learning_policies.lesson_gain. What contradicts it, by a decision or by being another rule under the same p_key, makes its confidence shrink by lesson_loss, and takes its place unless it is less sure than that by more than fact_supersede_margin, when it is kept as history. Without p_key rules of a domain stand beside each other. p_sequences are the events of p_thread_id that it was drawn from; the words of a tool are refused (HC009). Lists stand in the view lessons.';
REVOKE ALL ON FUNCTION hippocampus.record_lesson FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.record_lesson TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
