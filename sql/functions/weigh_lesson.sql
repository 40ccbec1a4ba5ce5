-- What was seen for or against a lesson. Below the policy's floor it no longer holds, and stays as history.
CREATE OR REPLACE FUNCTION hippocampus.weigh_lesson(
    p_user_id text,
    p_app_name text,
    p_lesson_id uuid,
    p_confirmed boolean,
    p_weight double precision DEFAULT 1.0,
    p_now timestamptz DEFAULT now()
) RETURNS double precision
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_confidence double precision;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_weight', p_weight, 0, 1);
    PERFORM hippocampus._check_time('p_now', p_now);
    IF p_confirmed IS NULL THEN
        RAISE EXCEPTION 'p_confirmed is null' USING ERRCODE = 'HC009', HINT = 'Say true for confirmed, false for contradicted.';
    END IF;
    UPDATE hippocampus.facts f
    SET confidence = hippocampus._lesson_confidence(p_app_name, f.confidence, p_confirmed, p_weight)
    WHERE f.id = p_lesson_id AND f.user_id = p_user_id AND f.app_name = p_app_name
      AND f.fact_type = 'rule' AND f.metadata ? 'domain' AND f.valid_until IS NULL
    RETURNING f.confidence INTO v_confidence;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'lesson % is unknown, or holds no longer', coalesce(p_lesson_id::text, 'null')
            USING ERRCODE = 'HC011', HINT = 'Give an id of the view lessons.';
    END IF;
    IF NOT p_confirmed AND v_confidence < (hippocampus._learning_policy(p_app_name)).lesson_floor THEN
        UPDATE hippocampus.facts f
        SET valid_until = greatest(p_now, f.valid_from), closed_at = greatest(p_now, f.recorded_at)
        WHERE f.id = p_lesson_id AND f.user_id = p_user_id AND f.app_name = p_app_name;
    END IF;
    RETURN v_confidence;
END
$fn$;
COMMENT ON FUNCTION hippocampus.weigh_lesson IS
    'Confirms or contradicts a lesson, with a weight of 0 to 1, and returns its confidence: confirmed, it gains lesson_gain · weight of what it lacks to 1; contradicted, it loses lesson_loss · weight of what it has, and ends where that is below lesson_floor (learning_policies). Raises HC011 where no such lesson holds.';
REVOKE ALL ON FUNCTION hippocampus.weigh_lesson FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.weigh_lesson TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
