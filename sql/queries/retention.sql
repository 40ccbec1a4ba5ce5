-- name: RetentionCleanup :one
SELECT hippocampus.cleanup_low_value_memories(
    p_threshold => sqlc.narg(threshold), p_min_age_days => sqlc.narg(min_age_days), p_user_id => sqlc.narg(user_id),
    p_app_name => sqlc.narg(app_name), p_dry_run => @dry_run, p_now => coalesce(sqlc.narg(now)::timestamptz, now()))::integer AS deleted;

-- name: RetentionDistribution :one
SELECT * FROM hippocampus.retention_distribution(p_user_id => sqlc.narg(user_id), p_app_name => sqlc.narg(app_name),
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()));

-- name: RetentionFoldTotals :one
SELECT hippocampus.fold_posting_totals(p_limit => @max_rows)::integer AS folded;

-- name: RetentionSweep :one
SELECT b.scanned, b.refreshed, b.deleted, coalesce(b.after_user_id, '')::text AS after_user_id,
    coalesce(b.after_app_name, '')::text AS after_app_name, coalesce(b.after_created_at, '0001-01-01 UTC')::timestamptz AS after_created_at,
    coalesce(b.after_id, '00000000-0000-0000-0000-000000000000')::uuid AS after_id, (b.after_id IS NULL)::boolean AS done
FROM hippocampus.sweep_retention(
    p_after_user_id => @after_user_id, p_after_app_name => @after_app_name, p_after_created_at => @after_created_at,
    p_after_id => @after_id, p_limit => @max_rows) b;

-- name: RetentionTrim :one
SELECT hippocampus.trim_memories(p_limit => @max_rows)::integer AS deleted;
