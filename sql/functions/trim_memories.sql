-- Keeps users within the number of memories that their policy allows: of those beyond it, the ones with the
-- lowest scores go, at most p_limit a call. Rows that somebody holds, or has used since their score was
-- computed, are left for the next call.
CREATE OR REPLACE FUNCTION hippocampus.trim_memories(
    p_limit integer DEFAULT 5000,
    p_user_id text DEFAULT NULL,
    p_app_name text DEFAULT NULL,
    p_now timestamptz DEFAULT now()
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_ids uuid[];
    v_user_ids text[];
    v_app_names text[];
BEGIN
    PERFORM hippocampus._check_time('p_now', p_now);
    PERFORM hippocampus._check_range('p_limit', p_limit, 1, 1000000);
    WITH crowded AS ( -- may be over a limit: found without a look at any score
        SELECT m.user_id, m.app_name
        FROM hippocampus.memories m
        WHERE (p_user_id IS NULL OR m.user_id = p_user_id) AND (p_app_name IS NULL OR m.app_name = p_app_name)
        GROUP BY m.user_id, m.app_name
        HAVING count(*) > (SELECT least(d.max_per_user, (SELECT min(p.max_per_user) FROM hippocampus.retention_policies p
                               WHERE p.app_name IN (m.app_name, '*')))
                           FROM hippocampus._retention_policy(m.app_name, '*', '*') d)
    ), placed AS (
        SELECT m.id, m.user_id, m.app_name, m.access_count, m.encounter_count, p.max_per_user, row_number() OVER (
                PARTITION BY m.user_id, m.app_name, p.app_name, p.memory_type, p.category
                ORDER BY s.score DESC, m.created_at DESC, m.id) AS place
        FROM crowded c
        JOIN hippocampus.memories m ON m.user_id = c.user_id AND m.app_name = c.app_name
        CROSS JOIN LATERAL hippocampus._retention_policy(m.app_name, m.memory_type, m.category) p
        CROSS JOIN LATERAL (SELECT hippocampus._retention(p, m.initial_score, m.running_intensity, m.access_count,
            m.last_accessed_at, m.created_at, p_now) AS score) s
    ), held AS (
        -- the limit counts rows that are locked here, so that rows which others hold keep nobody's place
        SELECT m.id, m.user_id, m.app_name FROM placed p
        JOIN hippocampus.memories m ON m.id = p.id AND m.user_id = p.user_id AND m.app_name = p.app_name
            AND m.access_count = p.access_count AND m.encounter_count = p.encounter_count
        WHERE p.place > p.max_per_user AND hippocampus._sweep_scope(m.user_id, m.app_name)
          AND NOT EXISTS (SELECT FROM hippocampus._pinned(ARRAY[m.id], ARRAY[m.user_id], ARRAY[m.app_name]))
        ORDER BY p.place DESC, p.id LIMIT p_limit
        FOR UPDATE OF m SKIP LOCKED
    )
    SELECT array_agg(h.id), array_agg(h.user_id), array_agg(h.app_name) INTO v_ids, v_user_ids, v_app_names FROM held h;
    RETURN hippocampus._fade_memories(v_ids, v_user_ids, v_app_names);
END
$fn$;
COMMENT ON FUNCTION hippocampus.trim_memories IS
    'Deletes the memories with the lowest scores of users who have more than retention_policies.max_per_user under a policy, at most p_limit; call it until it returns 0. Skills, and experiences that became instructions, stay. Returns how many it deleted.';
REVOKE ALL ON FUNCTION hippocampus.trim_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.trim_memories TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
