-- name: JobEnqueueConsolidation :one
SELECT hippocampus.enqueue_consolidation(p_thread_id => @thread_id, p_job_type => @job_type)::uuid AS id;

-- name: JobGet :one
SELECT * FROM hippocampus.consolidation_jobs j WHERE j.id = @id;

-- name: JobGetByRiverJob :one
SELECT * FROM hippocampus.consolidation_jobs j WHERE j.river_job_id = @river_job_id::bigint;

-- name: JobListByThread :many
SELECT * FROM hippocampus.consolidation_jobs j WHERE j.thread_id = @thread_id ORDER BY j.created_at, j.id;

-- name: JobSetRawReply :exec
UPDATE hippocampus.consolidation_jobs j SET raw_reply = @raw_reply WHERE j.id = @id;

-- name: JobSetResult :exec
UPDATE hippocampus.consolidation_jobs j
SET result = @result, from_seq = sqlc.narg(from_seq), to_seq = sqlc.narg(to_seq), raw_reply = NULL
WHERE j.id = @id;
