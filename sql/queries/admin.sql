-- name: AdminDoctor :many
SELECT * FROM hippocampus.doctor();

-- name: AdminStats :one
SELECT * FROM hippocampus.memory_stats(p_user_id => sqlc.narg(user_id), p_app_name => sqlc.narg(app_name));
