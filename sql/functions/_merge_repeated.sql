-- Of some semantic memories, those that a newer one of the same category says again are superseded by it, which takes
-- over their strength. Each takes part once; rows that somebody holds are left. Returns those that were superseded.
CREATE OR REPLACE FUNCTION hippocampus._merge_repeated(
    p_user_id text,
    p_app_name text,
    p_ids uuid[],
    p_similarity double precision
) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_pair record;
    v_merged uuid[] := '{}';
BEGIN
    FOR v_pair IN
        SELECT o.id AS older, n.id AS newer
        FROM hippocampus._near_memories(p_user_id, p_app_name, p_ids, p_similarity, 'semantic') p
        JOIN hippocampus.memories a ON a.id = p.memory_id AND a.user_id = p_user_id AND a.app_name = p_app_name
        JOIN hippocampus.memories b ON b.id = p.near_id AND b.user_id = p_user_id AND b.app_name = p_app_name
        CROSS JOIN LATERAL (SELECT CASE WHEN (a.created_at, a.id) < (b.created_at, b.id) THEN a.id ELSE b.id END AS id) o
        CROSS JOIN LATERAL (SELECT CASE WHEN o.id = a.id THEN b.id ELSE a.id END AS id) n
        WHERE a.category = b.category
          AND a.superseded_by IS NULL AND b.superseded_by IS NULL
        ORDER BY o.id, n.id
    LOOP
        CONTINUE WHEN v_pair.older = ANY (v_merged) OR v_pair.newer = ANY (v_merged);
        CONTINUE WHEN 2 <> (SELECT count(*) FROM (
            SELECT FROM hippocampus.memories m
            WHERE m.id IN (v_pair.older, v_pair.newer) AND m.user_id = p_user_id AND m.app_name = p_app_name AND m.superseded_by IS NULL
            ORDER BY m.id FOR NO KEY UPDATE SKIP LOCKED) h);
        UPDATE hippocampus.memories m SET encounter_count = least(m.encounter_count::bigint + o.encounter_count, 2147483647),
            access_count = least(m.access_count::bigint + o.access_count, 2147483647), importance = greatest(m.importance, o.importance),
            running_intensity = greatest(m.running_intensity, o.running_intensity)
        FROM hippocampus.memories o
        WHERE m.id = v_pair.newer AND m.user_id = p_user_id AND m.app_name = p_app_name
          AND o.id = v_pair.older AND o.user_id = p_user_id AND o.app_name = p_app_name;
        UPDATE hippocampus.memories m SET superseded_by = v_pair.newer
        WHERE m.id = v_pair.older AND m.user_id = p_user_id AND m.app_name = p_app_name;
        v_merged := v_merged || v_pair.older;
    END LOOP;
    RETURN v_merged;
END
$fn$;
COMMENT ON FUNCTION hippocampus._merge_repeated IS
    'Supersedes semantic memories that a newer one says again, and returns which.';
REVOKE ALL ON FUNCTION hippocampus._merge_repeated FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._merge_repeated TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
