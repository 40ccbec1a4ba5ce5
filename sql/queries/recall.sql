-- name: RecallList :many
SELECT * FROM hippocampus.recall(
    p_user_id => @user_id, p_app_name => @app_name, p_types => sqlc.narg(types)::text[], p_tags => sqlc.narg(tags)::text[],
    p_min_importance => @min_importance, p_since => sqlc.narg(since), p_limit => @max_rows, p_context => sqlc.narg(context),
    p_thread_id => sqlc.narg(thread_id), p_memory_types => sqlc.narg(memory_types)::text[], p_include_shared => @include_shared,
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()));

-- name: RecallListRelated :many
SELECT * FROM hippocampus.recall_related(
    p_user_id => @user_id, p_app_name => @app_name, p_context => @context, p_limit => @max_rows, p_now => coalesce(sqlc.narg(now)::timestamptz, now()));

-- name: RecallListShortTerm :many
SELECT * FROM hippocampus.short_term_memory(
    p_user_id => @user_id, p_app_name => @app_name, p_thread_id => sqlc.narg(thread_id), p_unconsolidated => @unconsolidated,
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()));

-- name: RecallListSimilar :many
SELECT * FROM hippocampus.recall_similar(
    p_user_id => @user_id, p_app_name => @app_name, p_query => @query, p_query_embedding => sqlc.narg(query_embedding),
    p_limit => @max_rows, p_types => sqlc.narg(types)::text[], p_tags => sqlc.narg(tags)::text[],
    p_min_importance => @min_importance, p_since => sqlc.narg(since), p_include_shared => @include_shared,
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()));

-- name: RecallShare :exec
SELECT hippocampus.share_memory(p_user_id => @user_id, p_app_name => @app_name, p_memory_id => @memory_id,
    p_shared_by => sqlc.narg(shared_by));

-- name: RecallUnshare :one
SELECT hippocampus.unshare_memory(p_user_id => @user_id, p_app_name => @app_name, p_memory_id => @memory_id)::boolean AS unshared;

-- name: SearchExplain :one
SELECT hippocampus.explain_search(
    p_user_id => @user_id, p_app_name => @app_name, p_query => @query, p_query_embedding => sqlc.narg(query_embedding),
    p_limit => @max_rows, p_memory_types => sqlc.narg(memory_types)::text[], p_categories => sqlc.narg(categories)::text[],
    p_tags => sqlc.narg(tags)::text[], p_thread_id => sqlc.narg(thread_id), p_since => sqlc.narg(since),
    p_until => sqlc.narg(until), p_min_relevance => @min_relevance, p_profile => @profile,
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()), p_project_anchors => sqlc.narg(project_anchors)::text[])::jsonb AS explained;

-- name: ThreadSearch :many
SELECT * FROM hippocampus.search_threads(
    p_user_id => @user_id, p_app_name => @app_name, p_query => @query, p_query_embedding => sqlc.narg(query_embedding),
    p_limit => @max_rows, p_since => sqlc.narg(since), p_until => sqlc.narg(until),
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()));

-- name: RankingTrials :many
SELECT * FROM hippocampus.try_ranking(p_user_id => @user_id, p_app_name => @app_name, p_sample => @sample);

-- name: MemorySampleContents :many
-- Turns of conversations, at random: ids are.
SELECT m.content FROM hippocampus.memories m
WHERE m.user_id = @user_id AND m.app_name = @app_name AND m.superseded_by IS NULL AND octet_length(m.content) BETWEEN 20 AND 4000
ORDER BY m.id LIMIT @max_rows;

-- name: RankingOf :one
SELECT hippocampus._ranking(p_app_name => @app_name, p_profile => 'default', p_model => @model)::jsonb AS weights;
