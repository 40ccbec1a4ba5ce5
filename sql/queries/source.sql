-- name: SourceCreateMany :exec
-- A row a memory. Those of facts are remember_facts' own.
INSERT INTO hippocampus.memory_sources (from_seq, to_seq, memory_id, thread_id, job_id, user_id, app_name, model)
SELECT v.from_seq, v.to_seq, v.memory_id, @thread_id, @job_id::uuid, @user_id, @app_name, nullif(v.model, '')
FROM (SELECT unnest(@from_seqs::bigint[]) AS from_seq, unnest(@to_seqs::bigint[]) AS to_seq,
        unnest(@memory_ids::uuid[]) AS memory_id, unnest(@models::text[]) AS model) v;
