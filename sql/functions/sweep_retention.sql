-- One batch of a walk through all memories, in the order of memories_created_at_idx: for a threshold or an age that
-- no policy has, and for whoever reads retention_score; by policy, sweep_faded looks at far fewer. Refreshes scores
-- that have moved by 0.01 or more, deletes what is below its threshold and old enough. Rows that somebody holds are
-- left for the next walk, so that a sweep never waits for a reader or a writer; and so are rows that were
-- used since their score was computed, so that it never deletes what has just become worth keeping.
CREATE OR REPLACE FUNCTION hippocampus.sweep_retention(
    p_after_user_id text DEFAULT '',
    p_after_app_name text DEFAULT '',
    p_after_created_at timestamptz DEFAULT '-infinity',
    p_after_id uuid DEFAULT '00000000-0000-0000-0000-000000000000',
    p_limit integer DEFAULT 5000,
    p_user_id text DEFAULT NULL,
    p_app_name text DEFAULT NULL,
    p_threshold double precision DEFAULT NULL,
    p_min_age_days integer DEFAULT NULL,
    p_refresh boolean DEFAULT true,
    p_delete boolean DEFAULT true,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.retention_batches
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_batch hippocampus.retention_batches;
    v_found record;
    -- of one user, the walk begins and ends at that user: no id is as long as the greatest one
    v_skip boolean := p_user_id COLLATE "C" > coalesce(p_after_user_id, '');
    v_user_id text := CASE WHEN v_skip THEN p_user_id ELSE coalesce(p_after_user_id, '') END;
    v_app_name text := CASE WHEN v_skip THEN '' ELSE coalesce(p_after_app_name, '') END;
    v_created_at timestamptz := CASE WHEN v_skip THEN '-infinity' ELSE coalesce(p_after_created_at, '-infinity') END;
    v_id uuid := coalesce(CASE WHEN v_skip IS NOT TRUE THEN p_after_id END, '00000000-0000-0000-0000-000000000000');
    v_last_user_id text := coalesce(p_user_id, repeat(chr(1114111), 64));
BEGIN
    PERFORM hippocampus._check_time('p_now', p_now);
    PERFORM hippocampus._check_range('p_limit', p_limit, 1, 1000000);
    PERFORM hippocampus._check_range('p_threshold', coalesce(p_threshold, 0), 0, 1);
    PERFORM hippocampus._check_range('p_min_age_days', coalesce(p_min_age_days, 0), 0, 36500);
    WITH batch AS MATERIALIZED (
        SELECT m.user_id, m.app_name, m.created_at, m.id, m.retention_score, m.access_count, m.encounter_count, m.memory_type,
            m.category, m.initial_score, m.running_intensity, m.last_accessed_at
        FROM hippocampus.memories m
        WHERE (m.user_id, m.app_name, m.created_at, m.id) > (v_user_id, v_app_name, v_created_at, v_id)
          AND m.user_id <= v_last_user_id
          AND (p_app_name IS NULL OR m.app_name = p_app_name)
        ORDER BY m.user_id, m.app_name, m.created_at, m.id
        LIMIT p_limit
    ), scored AS MATERIALIZED (
        SELECT b.*, s.score, coalesce(p_delete, false)
            AND hippocampus._is_faded(p, s.score, b.created_at, p_now, p_threshold, p_min_age_days) AS low
        FROM batch b
        CROSS JOIN LATERAL hippocampus._retention_policy(b.app_name, b.memory_type, b.category) p
        CROSS JOIN LATERAL (SELECT hippocampus._retention(p, b.initial_score, b.running_intensity, b.access_count,
            b.last_accessed_at, b.created_at, p_now) AS score) s
    ), low AS MATERIALIZED (
        SELECT m.id, m.user_id, m.app_name FROM scored s
        JOIN hippocampus.memories m ON m.id = s.id AND m.user_id = s.user_id AND m.app_name = s.app_name
            AND m.access_count = s.access_count AND m.encounter_count = s.encounter_count
        WHERE s.low AND hippocampus._sweep_scope(m.user_id, m.app_name)
        ORDER BY m.id FOR UPDATE OF m SKIP LOCKED
    ), moved AS MATERIALIZED (
        SELECT m.id, m.user_id, m.app_name, s.score FROM scored s
        JOIN hippocampus.memories m ON m.id = s.id AND m.user_id = s.user_id AND m.app_name = s.app_name
            AND m.access_count = s.access_count AND m.encounter_count = s.encounter_count
        WHERE coalesce(p_refresh, true) AND NOT s.low AND abs(s.score - s.retention_score) >= 0.01
        ORDER BY m.id FOR NO KEY UPDATE OF m SKIP LOCKED
    ), refreshed AS (
        UPDATE hippocampus.memories m SET retention_score = v.score FROM moved v
        WHERE m.id = v.id AND m.user_id = v.user_id AND m.app_name = v.app_name
        RETURNING m.id
    ), last AS (
        SELECT b.user_id, b.app_name, b.created_at, b.id FROM batch b
        ORDER BY b.user_id DESC, b.app_name DESC, b.created_at DESC, b.id DESC LIMIT 1
    )
    SELECT (SELECT count(*) FROM batch) AS scanned, (SELECT count(*) FROM refreshed) AS refreshed, l.user_id, l.app_name, l.created_at, l.id,
        g.ids, g.user_ids, g.app_names
    INTO v_found FROM (SELECT array_agg(w.id) AS ids, array_agg(w.user_id) AS user_ids, array_agg(w.app_name) AS app_names FROM low w) g
    LEFT JOIN last l ON true;
    v_batch := ROW (v_found.scanned, v_found.refreshed, hippocampus._fade_memories(v_found.ids, v_found.user_ids, v_found.app_names),
        v_found.user_id, v_found.app_name, v_found.created_at, v_found.id);
    IF v_batch.scanned < p_limit THEN
        v_batch.after_id := NULL;
    END IF;
    RETURN NEXT v_batch;
END
$fn$;
COMMENT ON FUNCTION hippocampus.sweep_retention IS
    'One batch of retention: refreshes scores, deletes memories below their threshold and older than the minimum age; by policy, or by p_threshold and p_min_age_days where given. Returns what it did and where the next batch begins (after_…; after_id is null at the end).';
REVOKE ALL ON FUNCTION hippocampus.sweep_retention FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.sweep_retention TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
