-- name: BlockAppend :one
SELECT * FROM hippocampus.block_append(
    p_user_id => @user_id, p_app_name => @app_name, p_key => @key, p_text => @text,
    p_expected_version => sqlc.narg(expected_version));

-- name: BlockGet :one
SELECT * FROM hippocampus.memory_blocks b
WHERE b.user_id = @user_id AND b.app_name = @app_name AND b.key = @key;

-- name: BlockList :many
SELECT * FROM hippocampus.memory_blocks b
WHERE b.user_id = @user_id AND b.app_name = @app_name
ORDER BY b.key;

-- name: BlockReplace :one
SELECT * FROM hippocampus.block_replace(
    p_user_id => @user_id, p_app_name => @app_name, p_key => @key, p_old_text => @old_text, p_new_text => @new_text,
    p_expected_version => sqlc.narg(expected_version));

-- name: BlockSet :one
SELECT * FROM hippocampus.block_set(
    p_user_id => @user_id, p_app_name => @app_name, p_key => @key, p_value => @value,
    p_expected_version => sqlc.narg(expected_version), p_token_limit => sqlc.narg(token_limit),
    p_token_count => sqlc.narg(token_count));
