-- An app's policy of learning, or the deployment's where the app has none.
CREATE OR REPLACE FUNCTION hippocampus._learning_policy(
    p_app_name text
) RETURNS hippocampus.learning_policies
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_policy hippocampus.learning_policies;
BEGIN
    SELECT p.* INTO v_policy FROM hippocampus.learning_policies p
    WHERE p.app_name IN (p_app_name, '*') ORDER BY p.app_name = '*' LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the learning policy of % is missing', quote_literal(p_app_name)
            USING ERRCODE = 'HC011', HINT = 'INSERT INTO hippocampus.learning_policies DEFAULT VALUES;';
    END IF;
    RETURN v_policy;
END
$fn$;
COMMENT ON FUNCTION hippocampus._learning_policy IS 'The policy of learning that holds for an app. Raises HC011 where there is none.';
REVOKE ALL ON FUNCTION hippocampus._learning_policy FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._learning_policy
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
