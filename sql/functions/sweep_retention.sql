-- One batch of the walk through memories in the order of memories_created_at_idx: refreshes scores that have
-- moved by 0.01 or more, deletes what is below its threshold and old enough. Rows that somebody holds are
-- left for the next walk, so that a sweep never waits for a reader or a writer.
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
    v_low uuid[];
    v_moved uuid[];
    v_scores double precision[];
BEGIN
    PERFORM hippocampus._check_range('p_limit', p_limit, 1, 1000000);
    WITH batch AS (
        SELECT m.* FROM hippocampus.memories m
        WHERE (m.user_id, m.app_name, m.created_at, m.id) > (p_after_user_id, p_after_app_name, p_after_created_at, p_after_id)
          AND (p_user_id IS NULL OR m.user_id = p_user_id)
          AND (p_app_name IS NULL OR m.app_name = p_app_name)
        ORDER BY m.user_id, m.app_name, m.created_at, m.id
        LIMIT p_limit
    ), scored AS (
        SELECT b.user_id, b.app_name, b.created_at, b.id, b.retention_score, s.score,
            p_delete AND s.score < coalesce(p_threshold, p.threshold)
                AND b.created_at < p_now - make_interval(days => coalesce(p_min_age_days, p.min_age_days)) AS low
        FROM batch b
        CROSS JOIN LATERAL hippocampus._retention_policy(b.app_name, b.memory_type, b.category) p
        CROSS JOIN LATERAL (SELECT hippocampus._retention(p, b.initial_score, b.running_intensity, b.access_count,
            b.last_accessed_at, b.created_at, p_now) AS score) s
    )
    SELECT count(*), (array_agg(s.user_id ORDER BY s.user_id DESC, s.app_name DESC, s.created_at DESC, s.id DESC))[1],
        (array_agg(s.app_name ORDER BY s.user_id DESC, s.app_name DESC, s.created_at DESC, s.id DESC))[1],
        (array_agg(s.created_at ORDER BY s.user_id DESC, s.app_name DESC, s.created_at DESC, s.id DESC))[1],
        (array_agg(s.id ORDER BY s.user_id DESC, s.app_name DESC, s.created_at DESC, s.id DESC))[1],
        array_agg(s.id) FILTER (WHERE s.low),
        array_agg(s.id ORDER BY s.id) FILTER (WHERE p_refresh AND NOT s.low AND abs(s.score - s.retention_score) >= 0.01),
        array_agg(s.score ORDER BY s.id) FILTER (WHERE p_refresh AND NOT s.low AND abs(s.score - s.retention_score) >= 0.01)
    INTO v_batch.scanned, v_batch.after_user_id, v_batch.after_app_name, v_batch.after_created_at, v_batch.after_id,
        v_low, v_moved, v_scores
    FROM scored s;
    v_batch.deleted := 0;
    v_batch.refreshed := 0;
    IF v_low IS NOT NULL THEN
        WITH held AS (
            SELECT m.id, m.user_id, m.app_name FROM hippocampus.memories m
            WHERE m.id = ANY (v_low) ORDER BY m.id FOR UPDATE SKIP LOCKED)
        DELETE FROM hippocampus.memories m USING held h
        WHERE m.id = h.id AND m.user_id = h.user_id AND m.app_name = h.app_name;
        GET DIAGNOSTICS v_batch.deleted = ROW_COUNT;
    END IF;
    IF v_moved IS NOT NULL THEN
        WITH held AS (
            SELECT m.id, m.user_id, m.app_name FROM hippocampus.memories m
            WHERE m.id = ANY (v_moved) ORDER BY m.id FOR NO KEY UPDATE SKIP LOCKED)
        UPDATE hippocampus.memories m SET retention_score = v.score
        FROM held h JOIN unnest(v_moved, v_scores) AS v (id, score) ON v.id = h.id
        WHERE m.id = h.id AND m.user_id = h.user_id AND m.app_name = h.app_name;
        GET DIAGNOSTICS v_batch.refreshed = ROW_COUNT;
    END IF;
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
