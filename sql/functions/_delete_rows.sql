-- Deletes memories and facts, and what was made of them (clusters, insights of sleeps): their vectors, words and
-- provenance, and what others say of having been replaced by them, go by triggers and keys; their ids in the results of
-- jobs and the reports of sleeps, here. The rows are held first, so that a consolidation which is just saying the same
-- is waited for, and the ids in its result are seen.
CREATE OR REPLACE FUNCTION hippocampus._delete_rows(
    p_user_id text,
    p_app_name text,
    p_ids uuid[],
    OUT memories bigint,
    OUT facts bigint
)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_ids uuid[] := ARRAY(SELECT hippocampus._made_of(p_user_id, p_app_name, p_ids));
BEGIN
    PERFORM hippocampus._hold_rows(p_user_id, p_app_name, v_ids);
    UPDATE hippocampus.consolidation_jobs j
    SET result = j.result || (SELECT coalesce(jsonb_object_agg(k.name, (j.result -> k.name) - g.ids), '{}')
        FROM unnest(ARRAY['episode_ids', 'fact_ids', 'insight_ids', 'summary_ids']) AS k (name) WHERE j.result ? k.name)
    FROM (SELECT s.job_id, array_agg(s.id::text) AS ids FROM (
            SELECT m.job_id, m.memory_id AS id FROM hippocampus.memory_sources m
            WHERE m.memory_id = ANY (v_ids) AND m.user_id = p_user_id AND m.app_name = p_app_name
            UNION ALL SELECT f.job_id, f.fact_id FROM hippocampus.memory_sources f
            WHERE f.fact_id = ANY (v_ids) AND f.user_id = p_user_id AND f.app_name = p_app_name) s
          GROUP BY s.job_id) g
    WHERE j.id = g.job_id AND j.user_id = p_user_id AND j.app_name = p_app_name;
    DELETE FROM hippocampus.memories m
    WHERE m.id = ANY (v_ids) AND m.user_id = p_user_id AND m.app_name = p_app_name;
    GET DIAGNOSTICS memories = ROW_COUNT;
    DELETE FROM hippocampus.facts f
    WHERE f.id = ANY (v_ids) AND f.user_id = p_user_id AND f.app_name = p_app_name;
    GET DIAGNOSTICS facts = ROW_COUNT;
    UPDATE hippocampus.sleep_reports r
    SET changed_ids = ARRAY(SELECT c.id FROM unnest(r.changed_ids) WITH ORDINALITY AS c (id, n) WHERE c.id <> ALL (v_ids) ORDER BY c.n)
    WHERE r.user_id = p_user_id AND r.app_name = p_app_name AND r.changed_ids && v_ids;
END
$fn$;
COMMENT ON FUNCTION hippocampus._delete_rows IS 'Deletes memories and facts, and every mention of their ids.';
REVOKE ALL ON FUNCTION hippocampus._delete_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._delete_rows TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
