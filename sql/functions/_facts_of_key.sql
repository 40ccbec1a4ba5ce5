-- All values that a key has and had.
CREATE OR REPLACE FUNCTION hippocampus._facts_of_key(
    p_user_id text,
    p_app_name text,
    p_fact_type text,
    p_key text
) RETURNS SETOF hippocampus.facts
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 10
BEGIN ATOMIC
    SELECT f.* FROM hippocampus.facts f
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.fact_type = p_fact_type AND f.key = p_key;
END;
COMMENT ON FUNCTION hippocampus._facts_of_key IS 'All values that a key has and had.';
REVOKE ALL ON FUNCTION hippocampus._facts_of_key FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._facts_of_key TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
