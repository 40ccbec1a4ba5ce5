-- name: FactListAsOf :many
SELECT * FROM hippocampus.facts_as_of(
    p_user_id => @user_id, p_app_name => @app_name, p_at => @at, p_known_at => sqlc.narg(known_at));

-- name: FactListCurrent :many
SELECT * FROM hippocampus.facts f
WHERE f.user_id = @user_id AND f.app_name = @app_name AND f.valid_until IS NULL
ORDER BY f.fact_type, f.key;

-- name: FactUpsert :one
SELECT hippocampus.upsert_fact(
    p_user_id => @user_id, p_app_name => @app_name, p_fact_type => @fact_type, p_key => @key, p_value => @value,
    p_confidence => @confidence, p_embedding => sqlc.narg(embedding), p_embedding_model => sqlc.narg(embedding_model),
    p_intensity => @intensity, p_valid_from => sqlc.narg(valid_from), p_thread_id => sqlc.narg(thread_id),
    p_token_count => sqlc.narg(token_count))::uuid AS id;
