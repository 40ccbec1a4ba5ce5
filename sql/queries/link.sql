-- name: LinkClusterMemories :many
SELECT * FROM hippocampus.cluster_memories(
    p_user_id => @user_id, p_app_name => @app_name, p_cluster_id => @cluster_id, p_limit => @max_rows);

-- name: LinkCreate :exec
SELECT hippocampus.link_memories(
    p_user_id => @user_id, p_app_name => @app_name, p_from_id => @from_id, p_to_id => @to_id, p_link_type => @link_type,
    p_weight => @weight);

-- name: LinkDelete :one
SELECT hippocampus.unlink_memories(
    p_user_id => @user_id, p_app_name => @app_name, p_from_id => @from_id, p_to_id => @to_id,
    p_link_type => sqlc.narg(link_type))::integer AS unlinked;

-- name: LinkListClusters :many
SELECT * FROM hippocampus.list_clusters(
    p_user_id => @user_id, p_app_name => @app_name, p_start => sqlc.narg(start_at), p_end => sqlc.narg(end_at), p_limit => @max_rows);

-- name: LinkListLinked :many
SELECT * FROM hippocampus.linked_memories(
    p_user_id => @user_id, p_app_name => @app_name, p_memory_id => @memory_id, p_depth => @depth,
    p_link_types => sqlc.narg(link_types)::text[], p_limit => @max_rows);
