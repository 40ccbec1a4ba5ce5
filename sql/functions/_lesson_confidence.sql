-- How sure a lesson is once something was seen for or against it: the one formula of it.
CREATE OR REPLACE FUNCTION hippocampus._lesson_confidence(
    p_app_name text,
    p_confidence double precision,
    p_confirmed boolean,
    p_weight double precision
) RETURNS double precision
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_policy hippocampus.learning_policies := hippocampus._learning_policy(p_app_name);
BEGIN
    RETURN CASE WHEN p_confirmed THEN p_confidence + v_policy.lesson_gain * p_weight * (1 - p_confidence)
        ELSE p_confidence * (1 - v_policy.lesson_loss * p_weight) END;
END
$fn$;
COMMENT ON FUNCTION hippocampus._lesson_confidence IS
    'The confidence of a lesson that was confirmed or contradicted with a weight: it gains lesson_gain · weight of what it lacks to 1, or loses lesson_loss · weight of what it has.';
REVOKE ALL ON FUNCTION hippocampus._lesson_confidence FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._lesson_confidence TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
