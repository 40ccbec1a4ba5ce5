-- name: StateGetApp :one
SELECT * FROM hippocampus.app_state_get(p_app_name => @app_name);

-- name: StateGetUser :one
SELECT * FROM hippocampus.user_state_get(p_user_id => @user_id, p_app_name => @app_name);

-- name: StateMergeApp :one
SELECT * FROM hippocampus.app_state_merge(
    p_app_name => @app_name, p_delta => @delta, p_expected_version => sqlc.narg(expected_version));

-- name: StateMergeThread :one
SELECT * FROM hippocampus.thread_state_merge(
    p_thread_id => @thread_id, p_delta => @delta, p_expected_version => sqlc.narg(expected_version));

-- name: StateMergeUser :one
SELECT * FROM hippocampus.user_state_merge(
    p_user_id => @user_id, p_app_name => @app_name, p_delta => @delta,
    p_expected_version => sqlc.narg(expected_version));
