-- name: EventAppend :many
SELECT * FROM hippocampus.append_events(
    p_thread_id => @thread_id, p_events => @events, p_expected_version => sqlc.narg(expected_version));

-- name: EventListAfter :many
SELECT * FROM hippocampus.events e
WHERE e.thread_id = @thread_id AND e.sequence_num > @after_seq
ORDER BY e.sequence_num
LIMIT @max_rows;

-- name: EventListRecent :many
SELECT * FROM hippocampus.recent_events(
    p_user_id => @user_id, p_app_name => @app_name, p_thread_id => sqlc.narg(thread_id), p_limit => @max_rows);

-- name: EventRecall :many
SELECT * FROM hippocampus.recall_conversation(
    p_user_id => @user_id, p_app_name => @app_name, p_query => @query, p_limit => @max_rows,
    p_thread_id => sqlc.narg(thread_id));
