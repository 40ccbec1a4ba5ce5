-- name: SleepEnqueue :one
SELECT hippocampus.enqueue_sleep(p_user_id => @user_id, p_app_name => @app_name)::uuid AS id;

-- name: SleepEnqueueDue :one
SELECT hippocampus.enqueue_due_sleeps(p_limit => @max_rows)::integer AS enqueued;

-- name: SleepGet :one
SELECT r.user_id, r.app_name, r.model_calls, coalesce((
    -- earlier, for what was committed after the last one had looked; to look twice changes nothing
    SELECT max(o.started_at) - interval '10 minutes' FROM hippocampus.sleep_reports o
    WHERE o.user_id = r.user_id AND o.app_name = r.app_name AND o.status = 'completed'), '0001-01-02 UTC')::timestamptz AS since
FROM hippocampus.sleep_reports r WHERE r.id = @id;

-- name: SleepListClusterable :many
-- Episodes that have been in no cluster yet, in runs without a long pause or a change of subject, the last of which is over. A run
-- with one that is younger than a day and has no vector yet waits for the next sleep: its subject is not known.
WITH free AS (
    SELECT m.id, m.content, m.author, m.importance, m.occurred_from, m.occurred_until, e.embedding,
        lag(m.occurred_until) OVER w AS before, lag(e.embedding) OVER w AS embedding_before,
        e.embedding IS NULL AND m.created_at > now() - interval '1 day' AND EXISTS (
            SELECT FROM hippocampus.embedding_queue q
            WHERE q.row_id = m.id AND q.user_id = m.user_id AND q.app_name = m.app_name) AS waits
    FROM hippocampus.memories m
    LEFT JOIN (SELECT v.row_id, v.user_id, v.app_name, v.embedding FROM hippocampus.embeddings v
               JOIN hippocampus.embedding_models g ON g.generation = v.generation AND g.status = 'serving'
               WHERE v.source = 'memory') e ON e.row_id = m.id AND e.user_id = m.user_id AND e.app_name = m.app_name
    WHERE m.user_id = @user_id AND m.app_name = @app_name AND m.memory_type = 'episodic' AND m.superseded_by IS NULL
      AND NOT EXISTS (SELECT FROM hippocampus.memory_cluster_members c
                      WHERE c.memory_id = m.id AND c.user_id = m.user_id AND c.app_name = m.app_name)
      AND NOT EXISTS (SELECT FROM hippocampus.memory_roles r
                      WHERE r.memory_id = m.id AND r.user_id = m.user_id AND r.app_name = m.app_name AND r.was_clustered)
    WINDOW w AS (ORDER BY m.occurred_from, m.id)
), numbered AS (
    SELECT f.*, count(*) FILTER (WHERE f.before IS NULL OR f.occurred_from > f.before + interval '30 minutes'
        OR hippocampus._similarity(f.embedding, f.embedding_before) < 0.1) OVER (ORDER BY f.occurred_from, f.id) AS run
    FROM free f
), sized AS (
    SELECT n.*, count(*) OVER (PARTITION BY n.run) AS size, max(n.occurred_until) OVER (PARTITION BY n.run) AS ended_at,
        bool_or(n.waits) OVER (PARTITION BY n.run) AS waits_for_one, row_number() OVER (PARTITION BY n.run ORDER BY n.occurred_from, n.id) AS place
    FROM numbered n
)
SELECT s.run::bigint AS run, s.id, s.content, s.importance, s.occurred_from, s.occurred_until FROM sized s
WHERE s.size >= 3 AND s.place <= 50 AND NOT s.waits_for_one AND s.ended_at < now() - interval '30 minutes'
ORDER BY s.run, s.occurred_from, s.id
LIMIT @max_rows;

-- name: SleepListReports :many
SELECT * FROM hippocampus.sleep_reports r
WHERE r.user_id = @user_id AND r.app_name = @app_name
ORDER BY r.created_at DESC, r.id LIMIT @max_rows;

-- name: SleepRecord :exec
UPDATE hippocampus.sleep_reports r
SET links = r.links + @links, tagged = r.tagged + @tagged, merged = r.merged + @merged, clusters = r.clusters + @clusters,
    insights = r.insights + @insights, model_calls = r.model_calls + @model_calls,
    changed_ids = (r.changed_ids || @changed_ids::uuid[])[1:1000]
WHERE r.id = @id;

-- name: SleepSetError :exec
UPDATE hippocampus.sleep_reports r SET error = left(@error::text, 500) WHERE r.id = @id;

-- name: SleepStoreCluster :one
SELECT hippocampus._remember_cluster(p_user_id => @user_id, p_app_name => @app_name, p_memory_ids => @memory_ids::uuid[], p_name => @name,
    p_token_count => @token_count, p_model => sqlc.narg(model), p_insights => @insights)::uuid[] AS ids;

-- name: SleepTidy :one
SELECT hippocampus.tidy_memories(p_user_id => @user_id, p_app_name => @app_name, p_since => sqlc.narg(since))::jsonb AS changes;
