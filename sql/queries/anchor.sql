-- name: AnchorClaimBuild :one
-- The nil id where another rebuild is at work.
SELECT coalesce(hippocampus._claim_anchor_build(p_user_id => @user_id, p_app_name => @app_name, p_lease_seconds => @lease_seconds,
    p_held => @held), '00000000-0000-0000-0000-000000000000')::uuid AS token;

-- name: AnchorFill :one
-- The nil id when all are filled.
SELECT coalesce(hippocampus._fill_anchors(p_user_id => @user_id, p_app_name => @app_name, p_token => @token, p_lease_seconds => @lease_seconds,
    p_after_id => @after_id, p_limit => @max_rows), '00000000-0000-0000-0000-000000000000')::uuid AS last_id;

-- name: AnchorHoldBuild :one
SELECT hippocampus._hold_anchor_build(p_user_id => @user_id, p_app_name => @app_name, p_token => @token,
    p_lease_seconds => @lease_seconds)::integer AS generation;

-- name: AnchorIndexListDue :many
-- Tenants that have documents and whose index was built before a time, or never.
SELECT i.* FROM hippocampus.anchor_indexes i
WHERE i.built_at IS NULL OR i.built_at < @before
ORDER BY i.user_id, i.app_name;

-- name: AnchorListChunks :many
-- What a rebuild reads, of sources that are allowed, in the order in which documents are stored: by path, of which the
-- chunks lie side by side. The limit is no argument, so that the plan for any arguments knows it.
SELECT c.id, d.path, c.position, d.kind, d.title, c.heading, c.content
FROM hippocampus.documents d
JOIN hippocampus.chunks c ON c.document_id = d.id AND c.user_id = d.user_id AND c.app_name = d.app_name
WHERE d.user_id = @user_id AND d.app_name = @app_name AND d.path >= @after_path AND (d.path > @after_path OR c.position > @after_position)
  AND (NOT EXISTS (SELECT FROM hippocampus.allowed_sources s WHERE s.user_id = @user_id AND s.app_name = @app_name)
       OR d.source IN (SELECT s.source FROM hippocampus.allowed_sources s WHERE s.user_id = @user_id AND s.app_name = @app_name))
ORDER BY d.path, c.position LIMIT 2000;

-- name: AnchorListMemories :many
SELECT m.id, m.content FROM hippocampus.memories m
WHERE m.user_id = @user_id AND m.app_name = @app_name AND m.id > @after_id AND m.superseded_by IS NULL
  AND (NOT EXISTS (SELECT FROM hippocampus.allowed_sources s WHERE s.user_id = @user_id AND s.app_name = @app_name)
       OR m.source IN (SELECT s.source FROM hippocampus.allowed_sources s WHERE s.user_id = @user_id AND s.app_name = @app_name))
ORDER BY m.id LIMIT 2000;

-- name: AnchorPut :many
SELECT a.id, a.term FROM hippocampus._put_anchors(p_user_id => @user_id, p_app_name => @app_name, p_token => @token,
    p_lease_seconds => @lease_seconds, p_terms => @terms) a ORDER BY a.id;

-- name: AnchorReleaseBuild :exec
-- A rebuild that ends early leaves the next one nothing to wait for.
UPDATE hippocampus.anchor_indexes i SET lease_until = clock_timestamp()
WHERE i.user_id = @user_id AND i.app_name = @app_name AND i.lease_token = @token;

-- name: AnchorSettings :one
SELECT hippocampus._anchor_settings(p_app_name => @app_name)::jsonb AS settings;

-- name: AnchorSwitch :one
SELECT hippocampus._switch_anchors(p_user_id => @user_id, p_app_name => @app_name, p_token => @token)::integer AS anchors;

-- name: AnchorStopWords :many
SELECT w::text AS word FROM hippocampus._stop_words(p_words => @words::text[]) w;

-- name: AnchorSample :many
-- Ids are random, so the first are a sample.
SELECT a.id, a.term, e.embedding FROM hippocampus.anchors a
JOIN hippocampus.embedding_models g ON g.status = 'serving'
JOIN hippocampus.embeddings e ON e.user_id = a.user_id AND e.app_name = a.app_name AND e.generation = g.generation
    AND e.source = 'anchor' AND e.row_id = a.id
WHERE a.user_id = @user_id AND a.app_name = @app_name
ORDER BY a.id LIMIT @max_rows;
