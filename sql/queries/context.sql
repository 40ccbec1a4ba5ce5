-- name: ContextWindow :many
SELECT * FROM hippocampus.get_context_window(
    p_user_id => @user_id, p_app_name => @app_name, p_query => @query, p_query_embedding => sqlc.narg(query_embedding),
    p_max_tokens => @max_tokens, p_memory_ratio => @memory_ratio, p_history_ratio => @history_ratio,
    p_thread_id => sqlc.narg(thread_id), p_system_prompt => sqlc.narg(system_prompt),
    p_system_tokens => sqlc.narg(system_tokens), p_system_ratio => @system_ratio, p_fact_ratio => sqlc.narg(fact_ratio),
    p_system_overflow => @system_overflow, p_include_omitted => true, p_language => @language, p_now => @now);
