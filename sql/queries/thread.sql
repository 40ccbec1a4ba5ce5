-- name: ThreadCreate :one
SELECT hippocampus.create_thread(
    p_user_id => @user_id, p_app_name => @app_name, p_session_id => sqlc.narg(session_id), p_state => @state,
    p_if_not_exists => @if_not_exists)::uuid AS id;

-- name: ThreadForget :one
SELECT hippocampus.forget_thread(p_user_id => @user_id, p_app_name => @app_name, p_thread_id => @thread_id)::integer AS forgotten;

-- name: ThreadGet :one
SELECT * FROM hippocampus.threads t WHERE t.id = @id;

-- name: ThreadGetBySession :one
SELECT sqlc.embed(t), hippocampus._consolidated_seq(t, p.job_type)::bigint AS consolidated_seq
FROM hippocampus.threads t
CROSS JOIN LATERAL hippocampus._consolidation_policy(t.app_name) p
WHERE t.user_id = @user_id AND t.app_name = @app_name AND t.session_id = @session_id;

-- name: ThreadList :many
SELECT sqlc.embed(t), hippocampus._consolidated_seq(t, p.job_type)::bigint AS consolidated_seq
FROM hippocampus.threads t
CROSS JOIN LATERAL hippocampus._consolidation_policy(t.app_name) p
WHERE t.user_id = @user_id AND t.app_name = @app_name
ORDER BY t.updated_at DESC, t.session_id LIMIT @max_rows OFFSET @skip_rows;

-- name: ThreadListOfApp :many
SELECT sqlc.embed(t), hippocampus._consolidated_seq(t, p.job_type)::bigint AS consolidated_seq, coalesce(u.state, '{}')::jsonb AS user_state
FROM hippocampus.threads t
CROSS JOIN LATERAL hippocampus._consolidation_policy(t.app_name) p
LEFT JOIN hippocampus.user_state u ON u.user_id = t.user_id AND u.app_name = t.app_name
WHERE t.app_name = @app_name
ORDER BY t.updated_at DESC, t.user_id, t.session_id LIMIT @max_rows OFFSET @skip_rows;

-- name: ThreadLock :one
-- The consolidation's last step holds the thread while it writes and moves the watermark.
SELECT * FROM hippocampus._lock_thread(p_thread_id => @id);

-- name: ThreadSetWatermarks :exec
-- The version stays: a consolidation in the background must not make an optimistic writer fail.
UPDATE hippocampus.threads t
SET replayed_seq = greatest(t.replayed_seq, @replayed_seq), reflected_seq = greatest(t.reflected_seq, @reflected_seq)
WHERE t.id = @id;
