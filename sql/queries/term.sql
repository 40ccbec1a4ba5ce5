-- name: TermsAreNoted :one
SELECT EXISTS (SELECT FROM hippocampus.unindexed_rows)::boolean AS noted;

-- name: TermsFold :one
SELECT hippocampus.fold_terms(p_limit => @max_users)::integer AS folded;
