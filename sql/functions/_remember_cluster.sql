-- Stores a cluster that a sleep made of episodes, under the name that a model gave it, and the insights that it drew
-- from them: p_insights, a list of {content, score, token_count}. Trusted as the least of the episodes, and as a
-- model's words at best. An insight in words that are a memory already stays that memory, whose it is, and is made
-- of nothing here: else it would be forgotten with episodes that it does not hang on. Where an episode is gone, or
-- in another cluster by now, nothing is stored. Returns the cluster's id, then those of the insights.
CREATE OR REPLACE FUNCTION hippocampus._remember_cluster(
    p_user_id text,
    p_app_name text,
    p_memory_ids uuid[],
    p_name text,
    p_token_count integer,
    p_model text,
    p_insights jsonb,
    p_now timestamptz DEFAULT now()
) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_id uuid := gen_random_uuid();
    v_of record;
    v_insights uuid[];
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM FROM hippocampus.memories m
    WHERE m.id = ANY (p_memory_ids) AND m.user_id = p_user_id AND m.app_name = p_app_name ORDER BY m.id FOR NO KEY UPDATE;
    SELECT count(*) AS episodes, min(m.occurred_from) AS since, max(m.occurred_until) AS until, max(m.importance) AS importance,
        hippocampus._least_trust(array_agg(m.trust) || 'agent'::text) AS trust INTO v_of
    FROM hippocampus.memories m
    WHERE m.id = ANY (p_memory_ids) AND m.user_id = p_user_id AND m.app_name = p_app_name AND m.superseded_by IS NULL
      AND NOT EXISTS (SELECT FROM hippocampus.memory_cluster_members c
                      WHERE c.memory_id = m.id AND c.user_id = p_user_id AND c.app_name = p_app_name);
    IF v_of.episodes = 0 OR v_of.episodes <> cardinality(p_memory_ids) THEN
        RETURN '{}';
    END IF;
    WITH stored AS (
        INSERT INTO hippocampus.memories (created_at, last_accessed_at, occurred_from, occurred_until, retention_score, initial_score,
            importance, token_count, token_count_exact, id, user_id, app_name, memory_type, category, source, trust, content, content_hash)
        SELECT p_now, p_now, v_of.since, v_of.until, n.score, n.score, n.score, n.token_count, true, n.id, p_user_id, p_app_name,
            n.memory_type, n.category, 'sleep', v_of.trust, n.content, hippocampus._content_hash(n.content)
        FROM (SELECT v_id, 'summary', 'other', p_name, v_of.importance, p_token_count
              UNION ALL
              SELECT gen_random_uuid(), 'semantic', 'insight', i.content, i.score, i.token_count
              FROM jsonb_to_recordset(p_insights) AS i (content text, score real, token_count integer)
             ) AS n (id, memory_type, category, content, score, token_count)
        ON CONFLICT DO NOTHING
        RETURNING id)
    SELECT array_agg(s.id) INTO v_insights FROM stored s WHERE s.id <> v_id;
    INSERT INTO hippocampus.memory_clusters (started_at, ended_at, id, user_id, app_name, model)
    VALUES (v_of.since, v_of.until, v_id, p_user_id, p_app_name, p_model);
    INSERT INTO hippocampus.memory_cluster_members (cluster_id, memory_id, user_id, app_name)
    SELECT v_id, e.id, p_user_id, p_app_name FROM unnest(p_memory_ids) AS e (id);
    INSERT INTO hippocampus.memory_links (from_id, to_id, user_id, app_name, link_type, source)
    SELECT i.id, e.id, p_user_id, p_app_name, 'derived_from', 'sleep'
    FROM unnest(v_insights) AS i (id) CROSS JOIN unnest(p_memory_ids) AS e (id);
    RETURN v_id || v_insights;
END
$fn$;
COMMENT ON FUNCTION hippocampus._remember_cluster IS 'Stores a cluster of episodes with the insights that were drawn from it, and returns their ids; none where an episode is gone.';
REVOKE ALL ON FUNCTION hippocampus._remember_cluster FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._remember_cluster TO hippocampus_worker;
