-- name: ContextAssemble :many
-- The window, its text and its budgets, computed once. The text stands in the first row. A window
-- without entries is one row at position 0.
WITH entries AS MATERIALIZED (
    SELECT c.* FROM hippocampus.get_context_window(
        p_user_id => @user_id, p_app_name => @app_name, p_query => @query, p_query_embedding => sqlc.narg(query_embedding),
        p_max_tokens => @max_tokens, p_memory_ratio => @memory_ratio, p_history_ratio => @history_ratio,
        p_thread_id => sqlc.narg(thread_id), p_system_prompt => sqlc.narg(system_prompt),
        p_system_tokens => sqlc.narg(system_tokens), p_system_ratio => @system_ratio, p_fact_ratio => @fact_ratio,
        p_system_overflow => @system_overflow, p_include_omitted => @include_omitted, p_language => @language,
        p_now => coalesce(sqlc.narg(now)::timestamptz, now()), p_project_anchors => sqlc.narg(project_anchors)::text[]) c
)
SELECT coalesce(e.context_type, '')::text AS context_type, coalesce(e.content, '')::text AS content,
    coalesce(e.relevance_score, 0)::float8 AS relevance_score, coalesce(e.token_estimate, 0)::integer AS token_estimate,
    coalesce(e.position, 0)::integer AS position, coalesce(e.included, false)::boolean AS included,
    coalesce(e.omitted_reason, '')::text AS omitted_reason, e.source_id, e.source_seq, e.source_thread_id,
    CASE WHEN e.position = 1 THEN hippocampus.format_context(
        ARRAY(SELECT ROW (t.*)::hippocampus.context_entries FROM entries t), @language) ELSE '' END::text AS text,
    b.budgets::jsonb AS budgets
FROM (SELECT hippocampus._context_budgets(@max_tokens, @system_ratio, @memory_ratio, @history_ratio, @fact_ratio) AS budgets) b
LEFT JOIN entries e ON true
ORDER BY e.position;

-- name: ContextRecallBlock :many
SELECT * FROM hippocampus.recall_block(
    p_user_id => @user_id, p_app_name => @app_name, p_query => @query, p_query_embedding => sqlc.narg(query_embedding),
    p_max_tokens => @max_tokens, p_limit => @max_memories, p_min_relevance => @min_relevance, p_language => @language,
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()), p_max_lessons => @max_lessons,
    p_project_anchors => sqlc.narg(project_anchors)::text[]);

-- name: ContextFence :many
SELECT hippocampus._fence_text(t.text)::text AS text FROM unnest(@texts::text[]) WITH ORDINALITY AS t (text, n) ORDER BY t.n;
