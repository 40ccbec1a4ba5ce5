-- name: TermFold :one
SELECT hippocampus.fold_terms(@user_id, @app_name, @min_rows)::integer AS folded;

-- name: TermListUsers :many
-- Users with rows that are gone from the index of words, and, where unfolded ones are asked for, with rows to be folded.
SELECT n.user_id, n.app_name FROM hippocampus.unindexed_rows n
UNION
SELECT u.user_id, u.app_name FROM (
    SELECT r.user_id, r.app_name FROM hippocampus.row_terms r WHERE @unfolded::boolean AND r.number < 0
    GROUP BY r.user_id, r.app_name, r.source HAVING count(*) >= 16) u
LIMIT @max_users;

-- name: TermsAreNoted :one
SELECT EXISTS (SELECT FROM hippocampus.unindexed_rows)::boolean AS noted;
