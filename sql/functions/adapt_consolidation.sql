-- Moves the threshold of policies that have a target rate towards it: by 0.05 where the share of events that
-- became episodes since the last move is off by more than 0.05, never beyond the policy's bounds. Every move is
-- recorded, so that an operator sees why less or more is remembered. The deployment's own policy (*) moves by what
-- became of the events of all apps that have none.
CREATE OR REPLACE FUNCTION hippocampus.adapt_consolidation(
    p_min_events integer DEFAULT 200,
    p_now timestamptz DEFAULT now()
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_moved integer;
BEGIN
    PERFORM hippocampus._check_range('p_min_events', p_min_events, 1, 1000000000);
    PERFORM hippocampus._check_time('p_now', p_now);
    WITH RECURSIVE held AS MATERIALIZED (
        SELECT p.* FROM hippocampus.consolidation_policies p
        WHERE p.enabled AND p.target_rate IS NOT NULL
        ORDER BY p.app_name FOR UPDATE SKIP LOCKED
    ), apps AS ( -- each with one look into an index, however many consolidations it had
        SELECT ''::text COLLATE "C" AS app_name WHERE EXISTS (SELECT FROM held h WHERE h.app_name = '*')
        UNION ALL
        SELECT (SELECT j.app_name FROM hippocampus.consolidation_jobs j WHERE j.app_name > a.app_name ORDER BY j.app_name LIMIT 1)
        FROM apps a WHERE a.app_name IS NOT NULL
    ), ruled AS (
        SELECT h.app_name AS policy, h.app_name FROM held h WHERE h.app_name <> '*'
        UNION ALL
        SELECT '*', a.app_name FROM apps a
        WHERE a.app_name <> '' AND NOT EXISTS (SELECT FROM hippocampus.consolidation_policies o WHERE o.app_name = a.app_name)
    ), counted AS (
        SELECT h.app_name, h.min_importance, h.target_rate, r.events, r.kept / r.events AS rate,
            least(h.highest_importance, greatest(h.lowest_importance, round((h.min_importance
                + 0.05 * sign(r.kept / r.events - h.target_rate))::numeric, 3)::real)) AS moved
        FROM held h
        CROSS JOIN LATERAL (
            SELECT sum((j.result ->> 'events')::bigint) AS events, sum(coalesce((j.result ->> 'kept')::double precision, 0)) AS kept
            FROM ruled a
            JOIN hippocampus.consolidation_jobs j ON j.app_name = a.app_name
            WHERE a.policy = h.app_name AND j.status = 'completed' AND j.job_type <> 'deep_reflection'
              AND j.created_at <= p_now AND j.created_at > greatest(p_now - interval '7 days', (
                  SELECT max(m.moved_at) FROM hippocampus.consolidation_moves m WHERE m.app_name = h.app_name))
        ) r
        WHERE r.events >= p_min_events AND abs(r.kept / r.events - h.target_rate) > 0.05
    ), moved AS (
        UPDATE hippocampus.consolidation_policies p SET min_importance = c.moved, updated_at = p_now
        FROM counted c WHERE p.app_name = c.app_name AND c.moved <> c.min_importance
        RETURNING p.app_name
    )
    INSERT INTO hippocampus.consolidation_moves (moved_at, events, from_importance, to_importance, rate, target_rate, app_name)
    SELECT p_now, c.events, c.min_importance, c.moved, c.rate, c.target_rate, c.app_name
    FROM counted c JOIN moved m ON m.app_name = c.app_name;
    GET DIAGNOSTICS v_moved = ROW_COUNT;
    RETURN v_moved;
END
$fn$;
COMMENT ON FUNCTION hippocampus.adapt_consolidation IS
    'Moves min_importance of each policy that has a target_rate towards it, within the policy''s bounds, and records the move in consolidation_moves: an app''s own, and the deployment''s (*) by what became of the events of all apps without one. A policy with fewer than p_min_events events consolidated since its last move stays. Returns how many moved. A worker calls it every so often.';
REVOKE ALL ON FUNCTION hippocampus.adapt_consolidation FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.adapt_consolidation TO hippocampus_service, hippocampus_worker;
