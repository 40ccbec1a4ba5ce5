-- Of some semantic memories, those that another one of the same category says again are superseded by it, which takes
-- over their strength, tags and context: by the newer one, but by an older one that is trusted more. To say the same,
-- two must have the same numbers and deny alike, however near their vectors. What has a name, is an experience, or is
-- shown to others stays, and so does what has labels that the other has no room for, would show to others, or would
-- make the words of somebody who is trusted more. Each takes part once; rows that somebody holds are left. Returns
-- those that were superseded.
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
        SELECT l.kept, l.gone
        FROM hippocampus._near_memories(p_user_id, p_app_name, p_ids, p_similarity, 'semantic') p
        CROSS JOIN LATERAL hippocampus._memory_row(p_user_id, p_app_name, p.memory_id) a
        CROSS JOIN LATERAL hippocampus._memory_row(p_user_id, p_app_name, p.near_id) b
        CROSS JOIN LATERAL (SELECT CASE WHEN a.trust = b.trust THEN (a.created_at, a.id) > (b.created_at, b.id)
            ELSE hippocampus._least_trust(ARRAY[a.trust, b.trust]) = b.trust END AS a) stays
        CROSS JOIN LATERAL (SELECT CASE WHEN stays.a THEN a.id ELSE b.id END AS kept, CASE WHEN stays.a THEN b.id ELSE a.id END AS gone,
            CASE WHEN stays.a THEN b.visibility ELSE a.visibility END AS visibility) l
        WHERE a.category = b.category AND a.superseded_by IS NULL AND b.superseded_by IS NULL AND l.visibility = 'private'
          AND hippocampus._fact_marks(a.content) = hippocampus._fact_marks(b.content)
          AND NOT EXISTS (SELECT FROM hippocampus.named_memories n
                          WHERE n.memory_id = l.gone AND n.user_id = p_user_id AND n.app_name = p_app_name)
          AND NOT EXISTS (SELECT FROM hippocampus.experiences x
                          WHERE x.memory_id = l.gone AND x.user_id = p_user_id AND x.app_name = p_app_name)
        ORDER BY l.gone, l.kept
    LOOP
        CONTINUE WHEN v_pair.gone = ANY (v_merged) OR v_pair.kept = ANY (v_merged);
        CONTINUE WHEN 2 <> (SELECT count(*) FROM (
            SELECT FROM hippocampus.memories m
            WHERE m.id IN (v_pair.gone, v_pair.kept) AND m.user_id = p_user_id AND m.app_name = p_app_name AND m.superseded_by IS NULL
            ORDER BY m.id FOR UPDATE SKIP LOCKED) h); -- also one whose vector is just being stored
        UPDATE hippocampus.memories m SET encounter_count = least(m.encounter_count::bigint + o.encounter_count, 2147483647),
            access_count = least(m.access_count::bigint + o.access_count, 2147483647), importance = greatest(m.importance, o.importance),
            running_intensity = greatest(m.running_intensity, o.running_intensity), tags = l.tags, metadata = l.metadata
        FROM hippocampus.memories o
        CROSS JOIN LATERAL (SELECT * FROM hippocampus.memories k WHERE k.id = v_pair.kept AND k.user_id = p_user_id AND k.app_name = p_app_name) k
        CROSS JOIN LATERAL (SELECT ARRAY(SELECT DISTINCT t FROM unnest(k.tags || o.tags) t ORDER BY t) AS tags, o.metadata || k.metadata AS metadata) l
        WHERE m.id = v_pair.kept AND m.user_id = p_user_id AND m.app_name = p_app_name
          AND o.id = v_pair.gone AND o.user_id = p_user_id AND o.app_name = p_app_name
          AND (k.tags @> o.tags AND k.metadata @> o.metadata
            OR k.visibility = 'private' AND hippocampus._least_trust(ARRAY[k.trust, o.trust]) = k.trust)
          AND cardinality(l.tags) <= 64 AND pg_column_size(l.tags) <= 65536 AND pg_column_size(l.metadata) <= 262144;
        CONTINUE WHEN NOT FOUND;
        UPDATE hippocampus.memories m SET superseded_by = v_pair.kept
        WHERE m.id = v_pair.gone AND m.user_id = p_user_id AND m.app_name = p_app_name;
        v_merged := v_merged || v_pair.gone;
    END LOOP;
    RETURN v_merged;
END
$fn$;
COMMENT ON FUNCTION hippocampus._merge_repeated IS
    'Supersedes semantic memories that another one says again, and returns which.';
REVOKE ALL ON FUNCTION hippocampus._merge_repeated FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._merge_repeated TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
