-- What the policies of apps promote by themselves: successes with an insight, lived often enough, that no tool told. One
-- that repeats a tool's words is marked as the tool's, which every window then says.
-- One experience that cannot be promoted does not keep the others from it: those that are locked are passed over.
CREATE OR REPLACE FUNCTION hippocampus.promote_experiences(
    p_limit integer DEFAULT 100
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_found record;
    v_count integer := 0;
BEGIN
    PERFORM hippocampus._check_range('p_limit', p_limit, 1, 10000);
    IF NOT EXISTS (SELECT FROM hippocampus.learning_policies p WHERE p.promote_after IS NOT NULL) THEN
        RETURN 0;
    END IF;
    FOR v_found IN
        SELECT e.user_id, e.app_name, e.memory_id
        FROM hippocampus.experiences e
        JOIN hippocampus.memories m ON m.id = e.memory_id AND m.user_id = e.user_id AND m.app_name = e.app_name
        CROSS JOIN LATERAL hippocampus._learning_policy(e.app_name) p
        WHERE e.instruction_key IS NULL AND e.outcome = 'success' AND e.insight IS NOT NULL AND m.trust <> 'tool'
          AND m.encounter_count >= p.promote_after
        ORDER BY e.app_name, e.user_id, e.memory_id LIMIT p_limit
        FOR KEY SHARE OF m SKIP LOCKED FOR UPDATE OF e SKIP LOCKED
    LOOP
        CONTINUE WHEN NOT hippocampus._try_scope(v_found.user_id, v_found.app_name);
        IF hippocampus._experience_trust(v_found.user_id, v_found.app_name, v_found.memory_id) = 'tool' THEN
            -- said so from now on, and not asked again
            UPDATE hippocampus.memories m SET trust = 'tool'
            WHERE m.id = v_found.memory_id AND m.user_id = v_found.user_id AND m.app_name = v_found.app_name;
            CONTINUE;
        END IF;
        PERFORM hippocampus.promote_experience(v_found.user_id, v_found.app_name, v_found.memory_id);
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END
$fn$;
COMMENT ON FUNCTION hippocampus.promote_experiences IS
    'Promotes the experiences that their apps'' learning_policies.promote_after says, and returns how many. The worker calls it.';
REVOKE ALL ON FUNCTION hippocampus.promote_experiences FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.promote_experiences TO hippocampus_service, hippocampus_worker;
