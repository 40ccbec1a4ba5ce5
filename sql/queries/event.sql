-- name: EventAdoptUses :one
SELECT hippocampus._adopt_uses(p_user_id => @user_id, p_app_name => @app_name, p_thread_id => @thread_id)::integer AS adopted;

-- name: EventAppend :many
SELECT * FROM hippocampus.append_events(
    p_thread_id => @thread_id, p_events => @events, p_expected_version => sqlc.narg(expected_version));

-- name: EventGetByEventID :one
SELECT * FROM hippocampus.events e WHERE e.thread_id = @thread_id AND e.event_id = @event_id::text;

-- name: EventListAt :many
-- The events at places of the log: pairs of a thread and a sequence number. Who asks so has found a place by what was remembered,
-- so what was forgotten isn't among them.
SELECT * FROM hippocampus.events e
WHERE (e.thread_id, e.sequence_num) IN (SELECT unnest(@thread_ids::uuid[]), unnest(@sequence_nums::bigint[]))
  AND e.user_id = @user_id AND e.app_name = @app_name
  AND NOT EXISTS (SELECT FROM hippocampus.forgotten_events f
      WHERE f.thread_id = e.thread_id AND f.sequence_num = e.sequence_num AND f.user_id = @user_id AND f.app_name = @app_name);

-- name: EventListForModel :many
-- As many as fit max_tokens, the first at least, so that a long conversation is read in pieces.
SELECT c.sequence_num, c.author, c.category, c.importance, c.tags, c.text, c.created_at, c.token_count,
    hippocampus._context_of(c.metadata)::jsonb AS context,
    hippocampus._trust(c.author, c.event_type, c.category, c.content) AS trust,
    hippocampus._effective_importance(c.importance, coalesce((
        SELECT u.access_count FROM hippocampus.event_uses u
        WHERE u.thread_id = @thread_id AND u.sequence_num = c.sequence_num), 0))::double precision AS effective_importance
FROM (
    SELECT e.sequence_num, e.author, e.event_type, e.category, e.importance, e.tags, e.text, e.content, e.created_at, e.token_count,
        e.metadata, sum(e.token_count) OVER (ORDER BY e.sequence_num) AS total
    FROM (
        SELECT n.* FROM hippocampus.events n
        WHERE n.thread_id = @thread_id AND n.sequence_num > @after_seq
          AND NOT EXISTS (SELECT FROM hippocampus.forgotten_events f
              WHERE f.thread_id = n.thread_id AND f.sequence_num = n.sequence_num)
        ORDER BY n.sequence_num
        LIMIT @max_rows
    ) e
) c
WHERE c.total <= @max_tokens::bigint OR c.total = c.token_count
ORDER BY c.sequence_num;

-- name: EventListOfThread :many
SELECT r.* FROM (
    SELECT e.* FROM hippocampus.events e
    WHERE e.thread_id = @thread_id AND e.user_id = @user_id AND e.app_name = @app_name
      AND e.created_at >= @since::timestamptz
    ORDER BY e.sequence_num DESC LIMIT sqlc.narg(max_rows)::integer) r
ORDER BY r.sequence_num;

-- name: EventListRecent :many
SELECT * FROM hippocampus.recent_events(
    p_user_id => @user_id, p_app_name => @app_name, p_thread_id => sqlc.narg(thread_id), p_limit => @max_rows);

-- name: EventRecall :many
SELECT * FROM hippocampus.recall_conversation(
    p_user_id => @user_id, p_app_name => @app_name, p_query => @query, p_limit => @max_rows,
    p_thread_id => sqlc.narg(thread_id));
