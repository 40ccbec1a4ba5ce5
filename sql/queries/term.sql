-- name: TermFold :one
SELECT hippocampus.fold_terms(@user_id, @app_name)::integer AS folded;

-- name: TermListNoted :many
SELECT DISTINCT n.user_id, n.app_name FROM hippocampus.unindexed_rows n LIMIT @max_users;

-- name: TermListUnfolded :many
SELECT DISTINCT u.user_id, u.app_name FROM (
    SELECT r.user_id, r.app_name FROM hippocampus.row_terms r WHERE r.number < 0
    GROUP BY r.user_id, r.app_name, r.source HAVING count(*) >= 16) u
LIMIT @max_users;

-- name: TermsAreNoted :one
SELECT EXISTS (SELECT FROM hippocampus.unindexed_rows)::boolean AS noted;
