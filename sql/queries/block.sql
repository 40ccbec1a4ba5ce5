-- name: BlockGet :one
SELECT * FROM hippocampus.memory_blocks b
WHERE b.user_id = @user_id AND b.app_name = @app_name AND b.key = @key;

-- name: BlockList :many
SELECT * FROM hippocampus.memory_blocks b
WHERE b.user_id = @user_id AND b.app_name = @app_name
ORDER BY b.key;
