-- A key beside one that is taken, for a fact that holds at the same time: hobby_2 beside hobby.
CREATE OR REPLACE FUNCTION hippocampus._free_key(
    p_user_id text,
    p_app_name text,
    p_fact_type text,
    p_key text
) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT k.key FROM generate_series(2, 10000) AS n
    CROSS JOIN LATERAL (SELECT CASE WHEN octet_length(p_key) > 249 THEN left(p_key, 60) ELSE p_key END || '_' || n AS key) k
    WHERE NOT EXISTS (SELECT FROM hippocampus.facts f
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.fact_type = p_fact_type AND f.key = k.key AND f.valid_until IS NULL)
    ORDER BY n LIMIT 1;
END;
COMMENT ON FUNCTION hippocampus._free_key IS 'A key with a number that no current fact has.';
REVOKE ALL ON FUNCTION hippocampus._free_key FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._free_key
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
