-- name: MemoryForget :one
SELECT hippocampus.forget(p_user_id => @user_id, p_app_name => @app_name, p_ids => @ids::uuid[], p_log => @log)::integer AS forgotten;

-- name: MemoryForgetByMeaning :one
SELECT * FROM hippocampus.forget_memory(
    p_user_id => @user_id, p_app_name => @app_name, p_query => @query, p_query_embedding => sqlc.narg(query_embedding),
    p_threshold => sqlc.narg(threshold), p_limit => @max_rows, p_log => @log);

-- name: MemoryForgetUser :one
SELECT * FROM hippocampus.forget_user(p_user_id => @user_id, p_app_name => @app_name);

-- name: MemoryPreviewForget :many
-- What goes along may be a whole conversation: of each row as much as tells what it is.
SELECT p.source, p.id, CASE WHEN p.meant THEN p.text ELSE left(p.text, 500) END::text AS text, p.similarity, p.occurred_at, p.meant
FROM hippocampus.preview_forget(
    p_user_id => @user_id, p_app_name => @app_name, p_query => @query, p_query_embedding => sqlc.narg(query_embedding),
    p_threshold => sqlc.narg(threshold), p_limit => @max_rows) p;

-- name: MemoryGetPriorSummary :one
-- What a summarizer is told of the conversation before the events that it reads.
SELECT m.content FROM hippocampus.memories m
WHERE m.thread_id = @thread_id AND m.user_id = @user_id AND m.app_name = @app_name
  AND m.memory_type = 'summary' AND m.superseded_by IS NULL AND m.to_seq <= @until_seq::bigint
ORDER BY m.to_seq DESC, m.from_seq DESC, m.created_at DESC
LIMIT 1;

-- name: MemoryList :many
SELECT * FROM hippocampus.list_memories(
    p_user_id => @user_id, p_app_name => @app_name, p_memory_type => sqlc.narg(memory_type), p_limit => @max_rows,
    p_offset => @skip_rows);

-- name: MemoryListInTimeSlice :many
SELECT * FROM hippocampus.memories_in_time_slice(
    p_user_id => @user_id, p_app_name => @app_name, p_start => sqlc.narg(start_at), p_end => sqlc.narg(end_at),
    p_limit => @max_rows, p_memory_type => sqlc.narg(memory_type));

-- name: MemoryRecall :many
SELECT * FROM hippocampus.recall_memories(
    p_user_id => @user_id, p_app_name => @app_name, p_query => @query, p_query_embedding => sqlc.narg(query_embedding),
    p_limit => @max_rows, p_now => coalesce(sqlc.narg(now)::timestamptz, now()));

-- name: MemoryRecordAccess :one
SELECT hippocampus.record_access(p_user_id => @user_id, p_app_name => @app_name, p_ids => @ids::uuid[],
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()))::integer AS found;

-- name: MemoryRemember :one
SELECT hippocampus.remember(
    p_user_id => @user_id, p_app_name => @app_name, p_content => @content, p_memory_type => @memory_type,
    p_category => @category, p_importance => sqlc.narg(importance), p_tags => @tags::text[], p_metadata => @metadata,
    p_embedding => sqlc.narg(embedding), p_embedding_model => sqlc.narg(embedding_model), p_source => @source,
    p_author => sqlc.narg(author), p_intensity => @intensity, p_initial_score => @initial_score,
    p_thread_id => sqlc.narg(thread_id), p_from_seq => sqlc.narg(from_seq), p_to_seq => sqlc.narg(to_seq),
    p_occurred_from => sqlc.narg(occurred_from), p_occurred_until => sqlc.narg(occurred_until),
    p_token_count => sqlc.narg(token_count),
    -- what was drawn from events without a range of its own is trusted as they are
    p_trust => coalesce(sqlc.narg(trust)::text, CASE WHEN sqlc.narg(drawn_from)::bigint IS NOT NULL THEN hippocampus._memory_trust(
        @user_id, @app_name, @memory_type, @category, @source, sqlc.narg(author), sqlc.narg(thread_id),
        sqlc.narg(drawn_from)::bigint, sqlc.narg(drawn_to)::bigint) END),
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()))::uuid AS id;

-- name: MemoryRememberEpisodes :one
SELECT hippocampus._remember_episodes(p_user_id => @user_id, p_app_name => @app_name, p_thread_id => @thread_id,
    p_episodes => @episodes, p_embeddings => sqlc.narg(embeddings)::real[], p_embedding_model => sqlc.narg(embedding_model))::uuid[] AS ids;

-- name: MemoryRememberEvents :one
SELECT hippocampus.remember_events(p_user_id => @user_id, p_app_name => @app_name, p_thread_id => @thread_id,
    p_source => @source)::integer AS remembered;

-- name: MemorySearch :many
SELECT * FROM hippocampus.search_memory(
    p_user_id => @user_id, p_app_name => @app_name, p_query => @query, p_query_embedding => sqlc.narg(query_embedding),
    p_limit => @max_rows, p_memory_types => sqlc.narg(memory_types)::text[], p_categories => sqlc.narg(categories)::text[],
    p_tags => sqlc.narg(tags)::text[], p_thread_id => sqlc.narg(thread_id), p_since => sqlc.narg(since),
    p_until => sqlc.narg(until), p_min_relevance => @min_relevance, p_profile => @profile,
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()), p_project_anchors => sqlc.narg(project_anchors)::text[]);
