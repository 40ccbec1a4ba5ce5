-- name: EmbeddingClaim :many
-- A claimed row comes back after the lease if its worker dies; skipped, never waited for, by the other workers.
-- While it is tried it has no error: nobody may take it for one that is left.
WITH claimed AS (
    SELECT q.row_id, q.user_id, q.app_name, q.generation FROM hippocampus.embedding_queue q
    WHERE q.generation = @generation AND q.run_after <= now()
    ORDER BY q.run_after
    LIMIT @max_rows
    FOR UPDATE SKIP LOCKED
), leased AS (
    UPDATE hippocampus.embedding_queue q
    SET run_after = now() + make_interval(secs => @lease_seconds::float8), attempts = least(q.attempts, 1000000) + 1, error = NULL
    FROM claimed c
    WHERE q.row_id = c.row_id AND q.user_id = c.user_id AND q.app_name = c.app_name AND q.generation = c.generation
    RETURNING q.row_id, q.user_id, q.app_name, q.source, q.attempts
)
SELECT l.row_id, l.user_id, l.app_name, l.source, l.attempts,
    left(coalesce(m.content, hippocampus._fact_text(f.key, f.value), c.heading || E'\n' || c.content, a.term, s.text, ''), @max_chars::integer)::text AS text
FROM leased l
LEFT JOIN hippocampus.memories m ON l.source = 'memory' AND m.id = l.row_id AND m.user_id = l.user_id AND m.app_name = l.app_name
    AND m.superseded_by IS NULL
LEFT JOIN hippocampus.facts f ON l.source = 'fact' AND f.id = l.row_id AND f.user_id = l.user_id AND f.app_name = l.app_name
LEFT JOIN hippocampus.store_items s ON l.source = 'store' AND s.id = l.row_id AND s.user_id = l.user_id AND s.app_name = l.app_name
LEFT JOIN hippocampus.chunks c ON l.source = 'chunk' AND c.id = l.row_id AND c.user_id = l.user_id AND c.app_name = l.app_name
LEFT JOIN hippocampus.anchors a ON l.source = 'anchor' AND a.id = l.row_id AND a.user_id = l.user_id AND a.app_name = l.app_name;

-- name: EmbeddingCountQueued :one
SELECT count(*) FILTER (WHERE q.error IS NULL) AS fresh, count(*) FILTER (WHERE q.error IS NOT NULL) AS failed
FROM hippocampus.embedding_queue q;

-- name: EmbeddingDefer :exec
-- A row that somebody holds is being forgotten or embedded: left alone, so that nobody waits crosswise.
WITH held AS (
    SELECT h.row_id, h.user_id, h.app_name, h.generation FROM hippocampus.embedding_queue h
    WHERE h.generation = @generation
      AND (h.row_id, h.user_id, h.app_name) IN (SELECT unnest(@row_ids::uuid[]), unnest(@user_ids::text[]), unnest(@app_names::text[]))
    FOR UPDATE SKIP LOCKED
)
UPDATE hippocampus.embedding_queue q
SET run_after = now() + make_interval(secs => @delay_seconds::float8), error = @error::text
FROM held h
WHERE q.row_id = h.row_id AND q.user_id = h.user_id AND q.app_name = h.app_name AND q.generation = h.generation;

-- name: EmbeddingDrop :exec
-- A row that is gone, or has no words: it will have no vector. Skips as EmbeddingDefer does.
WITH held AS (
    SELECT h.row_id, h.user_id, h.app_name, h.generation FROM hippocampus.embedding_queue h
    WHERE h.generation = @generation
      AND (h.row_id, h.user_id, h.app_name) IN (SELECT unnest(@row_ids::uuid[]), unnest(@user_ids::text[]), unnest(@app_names::text[]))
    FOR UPDATE SKIP LOCKED
)
DELETE FROM hippocampus.embedding_queue q USING held h
WHERE q.row_id = h.row_id AND q.user_id = h.user_id AND q.app_name = h.app_name AND q.generation = h.generation;

-- name: EmbeddingDropRetired :exec
-- What was queued for a generation by transactions that were open when it was dropped. Skips as EmbeddingDefer does.
WITH held AS (
    SELECT h.row_id, h.user_id, h.app_name, h.generation FROM hippocampus.embedding_models g
    JOIN hippocampus.embedding_queue h ON h.generation = g.generation
    WHERE g.status = 'retired' FOR UPDATE OF h SKIP LOCKED
)
DELETE FROM hippocampus.embedding_queue q USING held h
WHERE q.row_id = h.row_id AND q.user_id = h.user_id AND q.app_name = h.app_name AND q.generation = h.generation;

-- name: EmbeddingRelease :many
-- Rows that were not tried: given back as if they had not been claimed. Skips as EmbeddingDefer does, also what another
-- claim looks at in vain, so it tells which it gave back.
WITH held AS (
    SELECT h.row_id, h.user_id, h.app_name, h.generation FROM hippocampus.embedding_queue h
    WHERE h.generation = @generation
      AND (h.row_id, h.user_id, h.app_name) IN (SELECT unnest(@row_ids::uuid[]), unnest(@user_ids::text[]), unnest(@app_names::text[]))
    FOR UPDATE SKIP LOCKED
)
UPDATE hippocampus.embedding_queue q
SET run_after = now() + make_interval(secs => @delay_seconds::float8), attempts = greatest(q.attempts - 1, 0)
FROM held h
WHERE q.row_id = h.row_id AND q.user_id = h.user_id AND q.app_name = h.app_name AND q.generation = h.generation
RETURNING q.row_id, q.user_id, q.app_name;

-- name: EmbeddingDueGenerations :many
-- The generations for which a row waits, or are still to be queued.
SELECT g.generation FROM hippocampus.embedding_models g
WHERE g.status = 'building' AND g.queued_at IS NULL
   OR EXISTS (SELECT FROM hippocampus.embedding_queue q WHERE q.generation = g.generation AND q.run_after <= now())
ORDER BY g.generation;

-- name: EmbeddingGenerationDrop :one
SELECT hippocampus.drop_embedding_generation(p_generation => @generation) AS looked;

-- name: EmbeddingGenerationIsWhole :one
SELECT hippocampus._generation_is_whole(p_generation => @generation)::boolean AS whole;

-- name: EmbeddingGenerationList :many
SELECT * FROM hippocampus.list_embedding_generations();

-- name: EmbeddingGenerationQueue :one
SELECT hippocampus.queue_reembedding(p_generation => @generation, p_limit => @max_rows) AS looked;

-- name: EmbeddingGenerationStart :one
SELECT * FROM hippocampus.start_reembedding(p_model => @model, p_dimension => @dimension);

-- name: EmbeddingGenerationSwitch :one
SELECT * FROM hippocampus.switch_embedding_generation(p_generation => @generation, p_max_missing => @max_missing);

-- name: EmbeddingModelList :many
-- The generations that are kept current.
SELECT * FROM hippocampus.embedding_models g WHERE g.status <> 'retired' ORDER BY g.generation;

-- name: EmbeddingModelServing :one
SELECT * FROM hippocampus.embedding_models g WHERE g.status = 'serving';

-- name: EmbeddingModelSetName :exec
-- The first model that a worker or service brings becomes the deployment's.
SELECT hippocampus._name_embedding_model(p_model => @model);

-- name: EmbeddingProgress :one
SELECT * FROM hippocampus.embedding_progress(p_generation => @generation);

-- name: EmbeddingPut :exec
SELECT hippocampus.put_embedding(
    p_user_id => @user_id, p_app_name => @app_name, p_source => @source, p_row_id => @row_id, p_embedding => @embedding,
    p_model => @model);

-- name: SimilarityDistribution :many
SELECT * FROM hippocampus.similarity_distribution(p_user_id => @user_id, p_app_name => @app_name, p_source => @source,
    p_other => sqlc.narg(other), p_sample => @sample);
