-- Refuses an experience that cannot be stored, before the policy is asked: what is skipped is checked as well.
CREATE OR REPLACE FUNCTION hippocampus._check_experience(
    p_user_id text,
    p_app_name text,
    p_task text,
    p_steps integer,
    p_retries integer,
    p_outcome text,
    p_insight text,
    p_trajectory jsonb
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_size('p_task', p_task, 1, 65536);
    PERFORM hippocampus._check_size('p_insight', coalesce(p_insight, 'none'), 1, 65536);
    PERFORM hippocampus._check_range('p_retries', p_retries, 0, 1000000);
    PERFORM hippocampus._check_one_of('p_outcome', p_outcome, ARRAY['success', 'partial', 'failure']);
    IF p_trajectory IS NULL OR jsonb_typeof(p_trajectory) <> 'array' THEN
        RAISE EXCEPTION 'p_trajectory is %', coalesce('a JSON ' || jsonb_typeof(p_trajectory), 'null')
            USING ERRCODE = 'HC009', HINT = 'Give a JSON array of steps: ["read the log", "fix the test"].';
    ELSIF pg_column_size(p_trajectory) > 262144 THEN
        RAISE EXCEPTION 'p_trajectory is % bytes long', pg_column_size(p_trajectory)
            USING ERRCODE = 'HC006', HINT = 'Give at most 262144 bytes; say in a sentence what a step did.';
    END IF;
    IF p_steps IS NULL AND jsonb_array_length(p_trajectory) = 0 THEN
        RAISE EXCEPTION 'p_steps is null and p_trajectory is empty'
            USING ERRCODE = 'HC009', HINT = 'Say how many steps it took: p_steps, or the steps themselves.';
    END IF;
    PERFORM hippocampus._check_range('p_steps', coalesce(p_steps, 1), 0, 1000000);
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_experience IS 'Raises HC001, HC006 or HC009 for an experience that cannot be stored.';
REVOKE ALL ON FUNCTION hippocampus._check_experience FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_experience TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
