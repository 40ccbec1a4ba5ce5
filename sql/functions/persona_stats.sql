-- What a user's memory holds, by tier and kind, with its size. Reads all of the user's rows.
CREATE OR REPLACE FUNCTION hippocampus.persona_stats(
    p_user_id text,
    p_app_name text,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.memory_tiers
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 20
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_time('p_now', p_now);
    RETURN QUERY
    SELECT 'short', e.category, count(*), sum(pg_column_size(e.*))::bigint, sum(e.token_count)::bigint,
        avg(e.importance::numeric)::double precision, 0::bigint, 0::bigint, 0::bigint, count(*) FILTER (WHERE e.created_at > p_now - interval '1 day')
    FROM hippocampus.short_term_memory(p_user_id, p_app_name, p_now => p_now) e GROUP BY e.category
    UNION ALL
    SELECT 'long', m.memory_type || ' ' || m.category, count(*), sum(pg_column_size(m.*))::bigint, sum(m.token_count)::bigint,
        avg(hippocampus._effective_importance(m.importance, m.access_count)), count(*) FILTER (WHERE s.score >= 0.7),
        count(*) FILTER (WHERE s.score >= 0.3 AND s.score < 0.7), count(*) FILTER (WHERE s.score < 0.3),
        count(*) FILTER (WHERE m.created_at > p_now - interval '1 day')
    FROM hippocampus.memories m
    CROSS JOIN LATERAL hippocampus._retention_policy(m.app_name, m.memory_type, m.category) p
    CROSS JOIN LATERAL (SELECT hippocampus._retention(p, m.initial_score, m.running_intensity, m.access_count,
        m.last_accessed_at, m.created_at, p_now) AS score) s
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name GROUP BY 2
    UNION ALL
    SELECT 'index', i.kind, i.rows, i.bytes, 0::bigint, 0::double precision, 0::bigint, 0::bigint, 0::bigint, 0::bigint FROM (
        SELECT 'words' AS kind, count(*) AS rows, coalesce(sum(pg_column_size(w.*)), 0)::bigint
            + (SELECT coalesce(sum(pg_column_size(p.*)), 0)::bigint FROM hippocampus.postings p
               WHERE p.user_id = p_user_id AND p.app_name = p_app_name) AS bytes
        FROM hippocampus.row_terms w WHERE w.user_id = p_user_id AND w.app_name = p_app_name
        UNION ALL SELECT 'vectors', count(*), coalesce(sum(pg_column_size(v.*)), 0)::bigint
        FROM hippocampus.embeddings v WHERE v.user_id = p_user_id AND v.app_name = p_app_name
        UNION ALL SELECT 'labels', count(*), coalesce(sum(pg_column_size(l.*)), 0)::bigint
        FROM hippocampus.memory_labels l WHERE l.user_id = p_user_id AND l.app_name = p_app_name) i
    UNION ALL
    SELECT 'log', 'events', count(*), coalesce(sum(pg_column_size(e.*)), 0)::bigint, coalesce(sum(e.token_count), 0)::bigint,
        coalesce(avg(e.importance::numeric), 0)::double precision, 0::bigint, 0::bigint, 0::bigint,
        count(*) FILTER (WHERE e.created_at > p_now - interval '1 day')
    FROM hippocampus.events e WHERE e.user_id = p_user_id AND e.app_name = p_app_name
    UNION ALL
    SELECT 'jobs', 'consolidations', count(*), 0::bigint, 0::bigint, coalesce(sum((j.result ->> 'kept')::double precision)
            / nullif(sum((j.result ->> 'events')::double precision), 0), 0), 0::bigint, 0::bigint, 0::bigint,
        count(*) FILTER (WHERE j.created_at > p_now - interval '1 day')
    FROM hippocampus.consolidation_jobs j
    WHERE j.user_id = p_user_id AND j.app_name = p_app_name AND j.status = 'completed'
    ORDER BY 1, 2;
END
$fn$;
COMMENT ON FUNCTION hippocampus.persona_stats IS
    'What a user''s memory holds: a row a category of short-term memory, a type and category of long-term memory (with how many are retained at 0.7 and more, 0.3 to 0.7, and less), and one for each index, the log and the consolidations, whose importance is the share of events that became episodes. bytes are those of the rows, compressed as stored, without page and index overhead; last_day counts rows of the last 24 hours.';
REVOKE ALL ON FUNCTION hippocampus.persona_stats FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.persona_stats
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
