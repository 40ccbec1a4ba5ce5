-- Whether a policy keeps an experience, and why: tags for what is kept, a reason for what is not. A failure is
-- not kept, whatever it took; what succeeded is, when it was tried again or took several steps.
CREATE OR REPLACE FUNCTION hippocampus._judge_experience(
    p_app_name text,
    p_steps integer,
    p_retries integer,
    p_outcome text,
    OUT o_tags text[],
    OUT o_reason text
)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_policy hippocampus.learning_policies := hippocampus._learning_policy(p_app_name);
BEGIN
    o_tags := array_remove(ARRAY[
        CASE WHEN p_retries >= v_policy.min_retries THEN 'retry_recovery' END,
        CASE WHEN p_steps >= v_policy.min_steps THEN 'complex_execution' END], NULL);
    IF p_outcome <> ALL (v_policy.outcomes) THEN
        o_reason := CASE p_outcome WHEN 'success' THEN 'no_learning_value' ELSE p_outcome END;
        o_tags := '{}';
    ELSE
        o_reason := coalesce(o_tags[1], 'no_learning_value');
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._judge_experience IS
    'What a policy says of an experience: the tags retry_recovery and complex_execution, or none and the reason why it is not kept.';
REVOKE ALL ON FUNCTION hippocampus._judge_experience FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._judge_experience TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
