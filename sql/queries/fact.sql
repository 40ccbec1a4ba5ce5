-- name: FactGetCurrent :one
SELECT * FROM hippocampus.facts f
WHERE f.user_id = @user_id AND f.app_name = @app_name AND f.fact_type = @fact_type AND f.key = @key
  AND f.valid_until IS NULL;

-- name: FactListAsOf :many
SELECT * FROM hippocampus.facts_as_of(
    p_user_id => @user_id, p_app_name => @app_name, p_at => coalesce(sqlc.narg(at)::timestamptz, now()),
    p_known_at => sqlc.narg(known_at), p_fact_type => sqlc.narg(fact_type), p_key => sqlc.narg(key));

-- name: FactListTexts :many
-- How facts that are still to be stored will read.
SELECT hippocampus._fact_text(v.key, v.value)::text AS text
FROM (SELECT row_number() OVER () AS n, p.key, p.value
      FROM (SELECT unnest(@keys::text[]) AS key, unnest(@values::text[])::jsonb AS value) p) v
ORDER BY v.n;

-- name: FactUpsert :one
SELECT hippocampus.upsert_fact(
    p_user_id => @user_id, p_app_name => @app_name, p_fact_type => @fact_type, p_key => @key, p_value => @value,
    p_confidence => @confidence, p_embedding => sqlc.narg(embedding), p_embedding_model => sqlc.narg(embedding_model),
    p_intensity => @intensity, p_valid_from => sqlc.narg(valid_from), p_thread_id => sqlc.narg(thread_id),
    p_metadata => coalesce(sqlc.narg(metadata)::jsonb, '{}'), p_token_count => sqlc.narg(token_count),
    p_trust => @trust, p_now => coalesce(sqlc.narg(now)::timestamptz, now()))::uuid AS id;

-- name: FactRemember :many
SELECT * FROM hippocampus.remember_facts(
    p_user_id => @user_id, p_app_name => @app_name, p_facts => @facts, p_thread_id => sqlc.narg(thread_id),
    p_embedding_model => sqlc.narg(embedding_model), p_undecided => @undecided, p_dry_run => @dry_run,
    p_job_id => sqlc.narg(job_id), p_model => sqlc.narg(model), p_now => coalesce(sqlc.narg(now)::timestamptz, now()));

-- name: FactSupersede :exec
SELECT hippocampus.supersede(
    p_user_id => @user_id, p_app_name => @app_name, p_old_id => @old_id, p_new_id => @new_id,
    p_reason => sqlc.narg(reason), p_at => sqlc.narg(at), p_now => coalesce(sqlc.narg(now)::timestamptz, now()));

-- name: FactRevertSupersession :exec
SELECT hippocampus.revert_supersession(
    p_user_id => @user_id, p_app_name => @app_name, p_id => @id, p_now => coalesce(sqlc.narg(now)::timestamptz, now()));
