CREATE OR REPLACE FUNCTION hippocampus.learning_stats(
    p_user_id text,
    p_app_name text
) RETURNS SETOF hippocampus.learning_statistics
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    RETURN QUERY
    SELECT e.all_of, e.retried, e.complex, e.promoted, s.plain, s.partial, s.failed, l.all_of, n.skills, n.notes, h.due
    FROM (SELECT count(*) AS all_of, count(*) FILTER (WHERE m.tags @> '{retry_recovery}') AS retried,
              count(*) FILTER (WHERE m.tags @> '{complex_execution}') AS complex, count(r.instruction_key) AS promoted
          FROM hippocampus.experiences r
          JOIN hippocampus.memories m ON m.id = r.memory_id AND m.user_id = r.user_id AND m.app_name = r.app_name
          WHERE r.user_id = p_user_id AND r.app_name = p_app_name) e
    CROSS JOIN (SELECT coalesce(sum(r.skipped) FILTER (WHERE r.reason = 'no_learning_value'), 0)::bigint AS plain,
              coalesce(sum(r.skipped) FILTER (WHERE r.reason = 'partial'), 0)::bigint AS partial,
              coalesce(sum(r.skipped) FILTER (WHERE r.reason = 'failure'), 0)::bigint AS failed
          FROM hippocampus.experience_skips r WHERE r.user_id = p_user_id AND r.app_name = p_app_name) s
    CROSS JOIN (SELECT count(*) AS all_of FROM hippocampus.lessons r WHERE r.user_id = p_user_id AND r.app_name = p_app_name) l
    CROSS JOIN (SELECT count(*) FILTER (WHERE r.kind = 'skill') AS skills, count(*) FILTER (WHERE r.kind = 'note') AS notes
          FROM hippocampus.named_memories r WHERE r.user_id = p_user_id AND r.app_name = p_app_name) n
    CROSS JOIN (SELECT count(*) AS due FROM hippocampus.harvests r
          WHERE r.user_id = p_user_id AND r.app_name = p_app_name AND r.found_at IS NOT NULL) h;
END
$fn$;
COMMENT ON FUNCTION hippocampus.learning_stats IS
    'Counts of a user''s experiences (kept, by tag, promoted; skipped, by reason), lessons, skills and notes, and of conversations that wait to be harvested.';
REVOKE ALL ON FUNCTION hippocampus.learning_stats FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.learning_stats
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
