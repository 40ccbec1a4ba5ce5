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
    p_trust text DEFAULT 'user',
    p_now timestamptz DEFAULT now()
) RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RETURN hippocampus._state_fact(p_user_id, p_app_name, p_fact_type, p_key, p_value, p_confidence, p_embedding, p_embedding_model,
        p_intensity, p_valid_from, p_thread_id, p_metadata, p_token_count, p_trust, NULL, p_now);
END
$fn$;
COMMENT ON FUNCTION hippocampus.upsert_fact IS
    'States a fact and returns its row. An equal current value is strengthened, and its row returned; a newer value takes its place and the old one stays as history; an earlier one (p_valid_from) is placed in the history, or moves the beginning of an equal one that followed back, which is strengthened and returned; one less sure than the value of that time by more than the setting fact_supersede_margin is kept as history only. p_trust is whose words it holds: operator, user, agent or tool; a tool lays down no rule (HC009).';
REVOKE ALL ON FUNCTION hippocampus.upsert_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.upsert_fact TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
