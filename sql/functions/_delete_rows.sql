-- Deletes memories and facts: their vectors, words and provenance go with them by triggers and keys; their ids
-- from the results of the jobs that made them, and what others say of having been replaced by them, here.
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
BEGIN
    UPDATE hippocampus.consolidation_jobs j
    SET result = j.result || (SELECT coalesce(jsonb_object_agg(k.name, (j.result -> k.name) - g.ids), '{}')
        FROM unnest(ARRAY['episode_ids', 'fact_ids', 'insight_ids', 'summary_ids']) AS k (name) WHERE j.result ? k.name)
    FROM (SELECT s.job_id, array_agg(s.id::text) AS ids FROM (
            SELECT m.job_id, m.memory_id AS id FROM hippocampus.memory_sources m
            WHERE m.memory_id = ANY (p_ids) AND m.user_id = p_user_id AND m.app_name = p_app_name
            UNION ALL SELECT f.job_id, f.fact_id FROM hippocampus.memory_sources f
            WHERE f.fact_id = ANY (p_ids) AND f.user_id = p_user_id AND f.app_name = p_app_name) s
          GROUP BY s.job_id) g
    WHERE j.id = g.job_id AND j.user_id = p_user_id AND j.app_name = p_app_name;
    WITH held AS (
        SELECT m.id FROM hippocampus.memories m
        WHERE m.id = ANY (p_ids) AND m.user_id = p_user_id AND m.app_name = p_app_name ORDER BY m.id FOR UPDATE)
    DELETE FROM hippocampus.memories m USING held h
    WHERE m.id = h.id AND m.user_id = p_user_id AND m.app_name = p_app_name;
    GET DIAGNOSTICS memories = ROW_COUNT;
    WITH held AS (
        SELECT f.id FROM hippocampus.facts f
        WHERE f.id = ANY (p_ids) AND f.user_id = p_user_id AND f.app_name = p_app_name ORDER BY f.id FOR UPDATE)
    DELETE FROM hippocampus.facts f USING held h
    WHERE f.id = h.id AND f.user_id = p_user_id AND f.app_name = p_app_name;
    GET DIAGNOSTICS facts = ROW_COUNT;
    UPDATE hippocampus.facts f SET superseded_by = NULL, closed_reason = NULL
    WHERE f.superseded_by = ANY (p_ids) AND f.user_id = p_user_id AND f.app_name = p_app_name;
END
$fn$;
COMMENT ON FUNCTION hippocampus._delete_rows IS 'Deletes memories and facts, and every mention of their ids.';
REVOKE ALL ON FUNCTION hippocampus._delete_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._delete_rows TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
