-- name: RetentionCleanup :one
SELECT hippocampus.cleanup_low_value_memories(
    p_threshold => sqlc.narg(threshold), p_min_age_days => sqlc.narg(min_age_days), p_user_id => sqlc.narg(user_id),
    p_app_name => sqlc.narg(app_name), p_dry_run => @dry_run, p_now => coalesce(sqlc.narg(now)::timestamptz, now()))::integer AS deleted;

-- name: RetentionDistribution :one
SELECT * FROM hippocampus.retention_distribution(p_user_id => sqlc.narg(user_id), p_app_name => sqlc.narg(app_name),
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()));

-- name: RetentionSweep :one
SELECT b.scanned, b.refreshed, b.deleted FROM hippocampus.sweep_faded(p_limit => @max_rows) b;

-- name: RetentionTrim :one
SELECT hippocampus.trim_memories(p_limit => @max_rows)::integer AS deleted;
