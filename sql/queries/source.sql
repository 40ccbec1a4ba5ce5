-- name: SourceCreateMany :exec
-- A row a memory or fact: of memory_ids and fact_ids, the other one is the nil UUID.
INSERT INTO hippocampus.memory_sources (from_seq, to_seq, memory_id, fact_id, thread_id, job_id, user_id, app_name, model)
SELECT v.from_seq, v.to_seq, nullif(v.memory_id, '00000000-0000-0000-0000-000000000000'),
    nullif(v.fact_id, '00000000-0000-0000-0000-000000000000'), @thread_id, @job_id::uuid, @user_id, @app_name,
    nullif(v.model, '')
FROM (SELECT unnest(@from_seqs::bigint[]) AS from_seq, unnest(@to_seqs::bigint[]) AS to_seq,
        unnest(@memory_ids::uuid[]) AS memory_id, unnest(@fact_ids::uuid[]) AS fact_id,
        unnest(@models::text[]) AS model) v;
