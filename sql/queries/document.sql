-- name: DocumentDelete :one
SELECT hippocampus.delete_document(p_user_id => @user_id, p_app_name => @app_name, p_path => @path)::boolean AS deleted;

-- name: DocumentList :many
SELECT d.* FROM hippocampus.documents d
WHERE d.user_id = @user_id AND d.app_name = @app_name AND starts_with(d.path, @prefix) AND d.path > @after_path
ORDER BY d.path LIMIT @max_rows;

-- name: DocumentLookupAnchors :many
SELECT * FROM hippocampus.lookup_anchors(
    p_user_id => @user_id, p_app_name => @app_name, p_query => @query, p_query_embedding => sqlc.narg(query_embedding),
    p_project_anchors => @project_anchors::text[], p_max_chunks => @max_chunks, p_anchor_weight => sqlc.narg(anchor_weight),
    p_semantic_theta => sqlc.narg(semantic_theta), p_tiers => @tiers::text[]);

-- name: DocumentPut :one
SELECT * FROM hippocampus.put_document(
    p_user_id => @user_id, p_app_name => @app_name, p_path => @path, p_chunks => @chunks, p_source => @source,
    p_title => @title, p_kind => @kind, p_content_hash => @content_hash, p_metadata => @metadata,
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()));

-- name: DocumentPutDenylist :one
SELECT hippocampus.put_anchor_denylist(p_user_id => @user_id, p_app_name => @app_name, p_terms => @terms::text[])::integer AS terms;

-- name: DocumentPutSources :one
SELECT hippocampus.put_source_allowlist(p_user_id => @user_id, p_app_name => @app_name, p_sources => @sources::text[])::integer AS sources;

-- name: DocumentSearch :many
SELECT * FROM hippocampus.search_chunks(
    p_user_id => @user_id, p_app_name => @app_name, p_query => @query, p_query_embedding => sqlc.narg(query_embedding),
    p_limit => @max_rows, p_sources => sqlc.narg(sources)::text[]);

-- name: DocumentSampleHeadings :many
-- Chunks in the order of their ids, which are random, with the number of documents of the same title.
SELECT d.path, d.title, c.heading, (SELECT count(*) FROM hippocampus.documents t
    WHERE t.user_id = d.user_id AND t.app_name = d.app_name AND t.title = d.title) AS same_title
FROM hippocampus.chunks c
JOIN hippocampus.documents d ON d.id = c.document_id AND d.user_id = c.user_id AND d.app_name = c.app_name
WHERE c.user_id = @user_id AND c.app_name = @app_name
ORDER BY c.id LIMIT @max_rows;

-- name: DocumentStats :one
SELECT * FROM hippocampus.document_stats(p_user_id => @user_id, p_app_name => @app_name);
