-- name: SourceCreate :exec
INSERT INTO hippocampus.memory_sources (from_seq, to_seq, memory_id, fact_id, thread_id, job_id, user_id, app_name, model)
VALUES (@from_seq, @to_seq, sqlc.narg(memory_id), sqlc.narg(fact_id), @thread_id, sqlc.narg(job_id), @user_id, @app_name,
    sqlc.narg(model));

-- name: SourceListByMemory :many
SELECT * FROM hippocampus.memory_sources s
WHERE s.memory_id = @memory_id AND s.user_id = @user_id AND s.app_name = @app_name
ORDER BY s.created_at, s.from_seq;
