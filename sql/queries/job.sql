-- name: JobCountByStatus :many
SELECT j.status, count(*) AS jobs FROM hippocampus.consolidation_jobs j
WHERE j.status IN ('pending', 'running', 'failed') GROUP BY j.status;

-- name: JobEnqueueConsolidation :one
SELECT hippocampus.enqueue_consolidation(p_thread_id => @thread_id, p_job_type => @job_type)::uuid AS id;

-- name: JobEnqueueForSession :one
-- The session is the client's own name for the thread, or the thread's id as text; the name goes first.
SELECT hippocampus.enqueue_consolidation(p_thread_id => t.id, p_job_type => @job_type)::uuid AS id
FROM (
    SELECT r.id FROM hippocampus.threads r
    WHERE r.user_id = @user_id AND r.app_name = @app_name AND (r.session_id = @session_id OR r.id = sqlc.narg(thread_id))
    ORDER BY r.session_id = @session_id DESC
    LIMIT 1
) t;

-- name: JobGet :one
SELECT * FROM hippocampus.consolidation_jobs j WHERE j.id = @id;

-- name: JobGetByRiverJob :one
SELECT * FROM hippocampus.consolidation_jobs j WHERE j.river_job_id = @river_job_id::bigint;

-- name: JobLockResult :one
SELECT j.result FROM hippocampus.consolidation_jobs j WHERE j.id = @id FOR NO KEY UPDATE;

-- name: JobSetError :exec
-- What River does not record, since it is no failure of the job: that it waits, and why.
UPDATE hippocampus.consolidation_jobs j SET error = @error::text WHERE j.id = @id;

-- name: JobSetRawReply :exec
UPDATE hippocampus.consolidation_jobs j SET raw_reply = @raw_reply WHERE j.id = @id;

-- name: JobSetResult :exec
UPDATE hippocampus.consolidation_jobs j
SET result = @result, from_seq = sqlc.narg(from_seq), to_seq = sqlc.narg(to_seq), raw_reply = NULL
WHERE j.id = @id;
