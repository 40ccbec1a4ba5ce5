-- name: HarvestIsDue :one
SELECT EXISTS (
    SELECT FROM hippocampus.harvests h WHERE h.found_at <= now() - make_interval(secs => @quiet_seconds::float8))::boolean AS due;

-- name: HarvestListDue :many
-- Threads that have been quiet for a while, so that a task is read whole; one that is never quiet is not kept waiting.
SELECT h.thread_id, h.user_id, h.app_name, h.harvested_seq, h.attempts, t.forgettings, (t.next_seq - 1)::bigint AS last_seq,
    (hippocampus._learning_policy(h.app_name)).min_steps::integer AS min_steps
FROM hippocampus.harvests h
JOIN hippocampus.threads t ON t.id = h.thread_id AND t.user_id = h.user_id AND t.app_name = h.app_name
WHERE h.found_at <= now() - make_interval(secs => @quiet_seconds::float8)
  AND (t.updated_at <= now() - make_interval(secs => @quiet_seconds::float8)
    OR h.found_at <= now() - make_interval(secs => 10 * @quiet_seconds::float8))
  AND (hippocampus._learning_policy(h.app_name)).harvest
ORDER BY h.found_at LIMIT @max_rows;

-- name: HarvestListEvents :many
-- What the harvester reads: events after its watermark, as many as fit max_tokens, the first at least.
SELECT c.sequence_num, c.author, c.category, c.text, c.created_at, c.trust::text AS trust, c.is_correction::boolean AS is_correction,
    (c.category IN ('task', 'decision', 'tool-use', 'error'))::boolean AS is_step
FROM (
    SELECT e.*, sum(e.token_count) OVER (ORDER BY e.sequence_num) AS total FROM (
        SELECT n.sequence_num, n.author, n.category, n.text, n.created_at, n.token_count,
            hippocampus._trust(n.author, n.event_type, n.category, n.content) AS trust, hippocampus._is_correction(n.text) AS is_correction
        FROM hippocampus.events n
        WHERE n.thread_id = @thread_id AND n.user_id = @user_id AND n.app_name = @app_name AND n.sequence_num > @after_seq
          AND NOT EXISTS (SELECT FROM hippocampus.forgotten_events f
              WHERE f.thread_id = n.thread_id AND f.sequence_num = n.sequence_num)
        ORDER BY n.sequence_num LIMIT @max_rows
    ) e
) c
WHERE c.total <= @max_tokens::bigint OR c.total = c.token_count
ORDER BY c.sequence_num;

-- name: HarvestMove :execrows
-- Moves the watermark, if it still is where it was read and nothing of the thread was forgotten since. What was appended meanwhile is due again.
UPDATE hippocampus.harvests h
SET harvested_seq = @to_seq, harvested_at = now(), attempts = 0, error = NULL,
    found_at = CASE WHEN @to_seq::bigint < t.next_seq - 1 THEN now() END
FROM hippocampus.threads t
WHERE t.id = h.thread_id AND t.user_id = h.user_id AND t.app_name = h.app_name
  AND h.thread_id = @thread_id AND h.user_id = @user_id AND h.app_name = @app_name AND h.harvested_seq = @after_seq::bigint
  AND t.forgettings = @forgettings::bigint;

-- name: HarvestDefer :exec
UPDATE hippocampus.harvests h
SET attempts = h.attempts + 1, error = @error::text, found_at = now() + make_interval(secs => @delay_seconds::float8)
WHERE h.thread_id = @thread_id AND h.user_id = @user_id AND h.app_name = @app_name;
