CREATE OR REPLACE FUNCTION hippocampus.memory_stats(
    p_user_id text DEFAULT NULL,
    p_app_name text DEFAULT NULL
) RETURNS SETOF hippocampus.memory_statistics
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_serving integer := (SELECT g.generation FROM hippocampus.embedding_models g WHERE g.status = 'serving');
BEGIN
    RETURN QUERY
    SELECT t.threads, t.events, t.consolidated, m.memories, m.episodic, m.semantic, m.summaries, f.current, f.history,
        b.blocks, e.embeddings, q.queued, j.pending, j.running, j.failed, m.tokens
    FROM (SELECT count(*) AS threads, coalesce(sum(r.next_seq - 1), 0)::bigint AS events,
              coalesce(sum(hippocampus._consolidated_seq(r, p.job_type)), 0)::bigint AS consolidated
          FROM hippocampus.threads r
          CROSS JOIN LATERAL hippocampus._consolidation_policy(r.app_name) p
          WHERE (p_user_id IS NULL OR r.user_id = p_user_id) AND (p_app_name IS NULL OR r.app_name = p_app_name)) t
    CROSS JOIN (SELECT count(*) AS memories, count(*) FILTER (WHERE r.memory_type = 'episodic') AS episodic,
              count(*) FILTER (WHERE r.memory_type = 'semantic') AS semantic,
              count(*) FILTER (WHERE r.memory_type = 'summary') AS summaries,
              coalesce(sum(r.token_count), 0)::bigint AS tokens
          FROM hippocampus.memories r
          WHERE (p_user_id IS NULL OR r.user_id = p_user_id) AND (p_app_name IS NULL OR r.app_name = p_app_name)) m
    CROSS JOIN (SELECT count(*) FILTER (WHERE r.valid_until IS NULL) AS current,
              count(*) FILTER (WHERE r.valid_until IS NOT NULL) AS history
          FROM hippocampus.facts r
          WHERE (p_user_id IS NULL OR r.user_id = p_user_id) AND (p_app_name IS NULL OR r.app_name = p_app_name)) f
    CROSS JOIN (SELECT count(*) AS blocks FROM hippocampus.memory_blocks r
          WHERE (p_user_id IS NULL OR r.user_id = p_user_id) AND (p_app_name IS NULL OR r.app_name = p_app_name)) b
    CROSS JOIN (SELECT count(*) AS embeddings FROM hippocampus.embeddings r
          WHERE r.generation = v_serving AND (p_user_id IS NULL OR r.user_id = p_user_id) AND (p_app_name IS NULL OR r.app_name = p_app_name)) e
    CROSS JOIN (SELECT count(*) AS queued FROM hippocampus.embedding_queue r
          WHERE r.generation = v_serving AND (p_user_id IS NULL OR r.user_id = p_user_id) AND (p_app_name IS NULL OR r.app_name = p_app_name)) q
    CROSS JOIN (SELECT count(*) FILTER (WHERE r.status = 'pending') AS pending,
              count(*) FILTER (WHERE r.status = 'running') AS running,
              count(*) FILTER (WHERE r.status = 'failed') AS failed
          FROM hippocampus.consolidation_jobs r
          WHERE (p_user_id IS NULL OR r.user_id = p_user_id) AND (p_app_name IS NULL OR r.app_name = p_app_name)) j;
END
$fn$;
COMMENT ON FUNCTION hippocampus.memory_stats IS
    'Counts of threads, events, memories, facts, blocks, vectors and jobs, of a tenant or of all that the role may see. Vectors are those of the generation that serves; of others see list_embedding_generations. events_consolidated counts those that consolidations of the app''s job_type have read (see consolidation_policies). What a user''s memory takes in bytes, how well it is retained and the rates of its consolidations: persona_stats.';
REVOKE ALL ON FUNCTION hippocampus.memory_stats FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.memory_stats
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
