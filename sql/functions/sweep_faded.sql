-- One batch of what retention is for: deletes memories that have faded, found by forget_at, app by app, so that it
-- looks at no memory whose time has not come. forget_at is no later than the true instant: a memory that was used
-- since it was predicted has not faded, and gets a new one, as do those predicted by what the app's policies said
-- before. Rows are locked before they are judged; those that somebody holds are left for the next sweep.
CREATE OR REPLACE FUNCTION hippocampus.sweep_faded(
    p_limit integer DEFAULT 5000,
    p_user_id text DEFAULT NULL,
    p_app_name text DEFAULT NULL,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.retention_batches
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_batch hippocampus.retention_batches;
    v_app_name text := p_app_name;
    v_hash bigint;
    v_range record;
    v_seen integer;
    v_moved integer;
    v_ids uuid[];
    v_user_ids text[];
BEGIN
    PERFORM hippocampus._check_time('p_now', p_now);
    PERFORM hippocampus._check_range('p_limit', p_limit, 1, 1000000);
    v_batch := ROW (0, 0, 0, NULL, NULL, NULL, NULL);
    LOOP
        IF p_app_name IS NULL THEN
            SELECT m.app_name INTO v_app_name FROM hippocampus.memories m
            WHERE m.app_name > coalesce(v_app_name, '') AND m.forget_at <= 'infinity' ORDER BY m.app_name LIMIT 1;
        END IF;
        EXIT WHEN v_app_name IS NULL;
        v_hash := hippocampus._retention_hash(v_app_name);
        FOR v_range IN SELECT r.* FROM (VALUES (v_hash, v_hash, p_now - interval '1 microsecond'), (0, v_hash - 1, 'infinity'),
                (v_hash + 1, 9223372036854775807, 'infinity')) AS r (first, last, before)
        LOOP
            CONTINUE WHEN v_batch.scanned >= p_limit;
            WITH held AS MATERIALIZED (
                SELECT m.id, m.user_id, m.memory_type, m.category, m.initial_score, m.running_intensity, m.access_count,
                    m.last_accessed_at, m.created_at
                FROM hippocampus.memories m
                WHERE m.app_name = v_app_name AND m.forget_policy BETWEEN v_range.first AND v_range.last AND m.forget_at <= v_range.before
                  AND (p_user_id IS NULL OR m.user_id = p_user_id) AND hippocampus._sweep_scope(m.user_id, m.app_name)
                ORDER BY m.forget_policy, m.forget_at LIMIT p_limit - v_batch.scanned FOR UPDATE SKIP LOCKED
            ), kinds AS MATERIALIZED (
                SELECT k.memory_type, k.category, p FROM (SELECT DISTINCT h.memory_type, h.category FROM held h) k
                CROSS JOIN LATERAL hippocampus._retention_policy(v_app_name, k.memory_type, k.category) p
            ), pinned AS MATERIALIZED (
                SELECT p.id FROM (SELECT array_agg(h.id) AS ids, array_agg(h.user_id) AS user_ids, array_agg(v_app_name) AS app_names FROM held h) a
                CROSS JOIN LATERAL hippocampus._pinned(a.ids, a.user_ids, a.app_names) AS p (id)
            ), judged AS MATERIALIZED (
                SELECT h.*, k.p, i.id IS NOT NULL AS pinned, i.id IS NULL AND hippocampus._is_faded(k.p, hippocampus._retention(k.p, h.initial_score,
                    h.running_intensity, h.access_count, h.last_accessed_at, h.created_at, p_now), h.created_at, p_now) AS faded
                FROM held h JOIN kinds k ON k.memory_type = h.memory_type AND k.category = h.category
                LEFT JOIN pinned i ON i.id = h.id
            ), moved AS ( -- it has not faded by p_now; what is pinned is not looked at again by the next batch
                UPDATE hippocampus.memories m SET forget_policy = v_hash, forget_at = greatest(p_now,
                    CASE WHEN j.pinned THEN least(p_now + interval '1 day', '9999-12-30 00:00:00+00') END, hippocampus._forget_at(j.p,
                    j.initial_score, j.running_intensity, j.access_count, j.last_accessed_at, j.created_at))
                FROM judged j WHERE NOT j.faded AND m.id = j.id AND m.user_id = j.user_id AND m.app_name = v_app_name
                RETURNING m.id
            )
            SELECT count(*), (SELECT count(*) FROM moved), array_agg(j.id) FILTER (WHERE j.faded), array_agg(j.user_id) FILTER (WHERE j.faded)
            INTO v_seen, v_moved, v_ids, v_user_ids FROM judged j;
            v_batch.scanned := v_batch.scanned + v_seen;
            v_batch.refreshed := v_batch.refreshed + v_moved;
            v_batch.deleted := v_batch.deleted
                + hippocampus._fade_memories(v_ids, v_user_ids, array_fill(v_app_name, ARRAY[coalesce(cardinality(v_ids), 0)]));
        END LOOP;
        EXIT WHEN v_batch.scanned >= p_limit OR p_app_name IS NOT NULL;
    END LOOP;
    RETURN NEXT v_batch;
END
$fn$;
COMMENT ON FUNCTION hippocampus.sweep_faded IS
    'One batch of retention by policy: of at most p_limit memories whose time has come (scanned), deletes those that have faded (deleted) and predicts anew when the others will (refreshed). Call it until it scans fewer than p_limit. What it deletes is what preview_retention lists as faded.';
REVOKE ALL ON FUNCTION hippocampus.sweep_faded FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.sweep_faded TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
