-- Keeps an experience if the app's policy finds that it teaches something; what it does not keep it counts. What
-- is kept is a memory like any other: found by search_memory, strengthened when the same is lived again, fading
-- more slowly the more there was to learn. Its structured side stands in experiences and goes with it.
CREATE OR REPLACE FUNCTION hippocampus.record_experience(
    p_user_id text,
    p_app_name text,
    p_task text,
    p_steps integer DEFAULT NULL,
    p_retries integer DEFAULT 0,
    p_outcome text DEFAULT 'success',
    p_insight text DEFAULT NULL,
    p_trajectory jsonb DEFAULT '[]',
    p_tags text[] DEFAULT '{}',
    p_metadata jsonb DEFAULT '{}',
    p_embedding public.vector DEFAULT NULL,
    p_embedding_model text DEFAULT NULL,
    p_source text DEFAULT 'experience',
    p_trust text DEFAULT 'agent',
    p_thread_id uuid DEFAULT NULL,
    p_from_seq bigint DEFAULT NULL,
    p_to_seq bigint DEFAULT NULL,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.experience_decisions
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_steps integer;
    v_judged record;
    v_id uuid;
    v_trust text;
    v_tags text[] := hippocampus._check_tags('p_tags', p_tags);
BEGIN
    PERFORM hippocampus._check_time('p_now', p_now);
    PERFORM hippocampus._check_experience(p_user_id, p_app_name, p_task, p_steps, p_retries, p_outcome, p_insight, p_trajectory);
    v_steps := coalesce(p_steps, jsonb_array_length(p_trajectory));
    v_judged := hippocampus._judge_experience(p_app_name, v_steps, p_retries, p_outcome);
    IF v_judged.o_tags = '{}' THEN
        PERFORM hippocampus._check_origin(p_user_id, p_app_name, p_thread_id, p_from_seq, p_to_seq);
        INSERT INTO hippocampus.experience_skips AS s (skipped_at, user_id, app_name, reason)
        VALUES (p_now, p_user_id, p_app_name, v_judged.o_reason)
        ON CONFLICT (user_id, app_name, reason)
        DO UPDATE SET skipped = s.skipped + 1, skipped_at = greatest(s.skipped_at, excluded.skipped_at);
        RETURN QUERY SELECT false, NULL::uuid, v_judged.o_reason, '{}'::text[];
        RETURN;
    END IF;
    -- no more than the events that it was drawn from
    v_trust := hippocampus._least_trust(ARRAY[p_trust, CASE WHEN p_from_seq IS NOT NULL THEN hippocampus._memory_trust(
        p_user_id, p_app_name, 'episodic', 'task', p_source, NULL, p_thread_id, p_from_seq, p_to_seq) END]);
    -- without a range: the same task, done in the same way in another conversation, is the same experience
    v_id := hippocampus.remember(p_user_id, p_app_name, hippocampus._experience_text(p_task, p_insight, p_trajectory),
        'episodic', 'task', 0.8, v_judged.o_tags || v_tags, p_metadata, p_embedding, p_embedding_model, p_source,
        p_thread_id => p_thread_id, p_trust => v_trust, p_now => p_now,
        p_initial_score => CASE v_judged.o_reason WHEN 'retry_recovery' THEN 1.0 ELSE 0.7 END);
    INSERT INTO hippocampus.experiences AS e (recorded_at, steps, retries, memory_id, user_id, app_name, outcome, task, insight, trajectory)
    VALUES (p_now, v_steps, p_retries, v_id, p_user_id, p_app_name, p_outcome, p_task, p_insight, p_trajectory)
    ON CONFLICT (memory_id, user_id, app_name) DO UPDATE
    SET recorded_at = greatest(e.recorded_at, excluded.recorded_at), steps = greatest(e.steps, excluded.steps),
        retries = greatest(e.retries, excluded.retries),
        outcome = CASE WHEN excluded.recorded_at >= e.recorded_at THEN excluded.outcome ELSE e.outcome END;
    IF p_thread_id IS NOT NULL AND p_from_seq IS NOT NULL THEN
        INSERT INTO hippocampus.memory_sources (created_at, from_seq, to_seq, memory_id, thread_id, user_id, app_name)
        SELECT p_now, p_from_seq, coalesce(p_to_seq, p_from_seq), v_id, p_thread_id, p_user_id, p_app_name
        WHERE NOT EXISTS (SELECT FROM hippocampus.memory_sources s WHERE s.memory_id = v_id AND s.user_id = p_user_id AND s.app_name = p_app_name
            AND s.thread_id = p_thread_id AND s.from_seq <= p_from_seq AND s.to_seq >= coalesce(p_to_seq, p_from_seq));
    END IF;
    RETURN QUERY SELECT true, v_id, v_judged.o_reason, v_judged.o_tags;
END
$fn$;
COMMENT ON FUNCTION hippocampus.record_experience IS
    'Keeps a task that was done, if the app''s learning_policies say that it teaches something: by default one that succeeded and was retried (tag retry_recovery) or took more than one step (complex_execution). One that is not kept is counted in experience_skips. p_steps is by default the length of p_trajectory; p_outcome is success, partial or failure. Returns what was decided; what was kept is a memory, found by search_memory. The same again strengthens it, and how it ended this time is its outcome.';
REVOKE ALL ON FUNCTION hippocampus.record_experience FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.record_experience TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
