-- name: ExperienceRecord :one
SELECT * FROM hippocampus.record_experience(
    p_user_id => @user_id, p_app_name => @app_name, p_task => @task, p_steps => sqlc.narg(steps), p_retries => @retries,
    p_outcome => @outcome, p_insight => sqlc.narg(insight), p_trajectory => @trajectory, p_tags => @tags::text[],
    p_metadata => @metadata, p_embedding => sqlc.narg(embedding), p_embedding_model => sqlc.narg(embedding_model),
    p_source => @source, p_trust => @trust, p_thread_id => sqlc.narg(thread_id), p_from_seq => sqlc.narg(from_seq),
    p_to_seq => sqlc.narg(to_seq), p_now => coalesce(sqlc.narg(now)::timestamptz, now()));

-- name: ExperiencePromote :one
SELECT * FROM hippocampus.promote_experience(
    p_user_id => @user_id, p_app_name => @app_name, p_memory_id => @memory_id,
    p_instruction_key => sqlc.narg(instruction_key), p_content => sqlc.narg(content));

-- name: ExperiencePromoteMany :one
SELECT hippocampus.promote_experiences(p_limit => @max_rows)::integer AS promoted;

-- name: LearningStats :one
SELECT * FROM hippocampus.learning_stats(p_user_id => @user_id, p_app_name => @app_name);

-- name: LessonRecord :one
SELECT * FROM hippocampus.record_lesson(
    p_user_id => @user_id, p_app_name => @app_name, p_rule => @rule, p_domain => @domain, p_confidence => @confidence,
    p_source => @source, p_key => sqlc.narg(key), p_thread_id => sqlc.narg(thread_id), p_sequences => @sequences::bigint[],
    p_trust => @trust, p_embedding => sqlc.narg(embedding), p_embedding_model => sqlc.narg(embedding_model),
    p_token_count => sqlc.narg(token_count), p_decisions => @decisions, p_undecided => @undecided, p_dry_run => @dry_run,
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()));

-- name: LessonWeigh :one
SELECT hippocampus.weigh_lesson(
    p_user_id => @user_id, p_app_name => @app_name, p_lesson_id => @lesson_id, p_confirmed => @confirmed, p_weight => @weight,
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()))::float8 AS confidence;

-- name: LessonList :many
SELECT * FROM hippocampus.lessons l
WHERE l.user_id = @user_id AND l.app_name = @app_name
  AND (sqlc.narg(domain)::text IS NULL OR l.domain = sqlc.narg(domain)::text) AND l.confidence >= @min_confidence::float8
ORDER BY l.confidence DESC, l.recorded_at DESC, l.id LIMIT @max_rows;

-- name: SaveMemory :one
SELECT hippocampus.save_memory(
    p_user_id => @user_id, p_app_name => @app_name, p_content => @content, p_metadata => @metadata, p_trust => @trust,
    p_token_count => sqlc.narg(token_count), p_now => coalesce(sqlc.narg(now)::timestamptz, now()))::uuid AS id;

-- name: SkillLoad :one
SELECT hippocampus.load_skill(
    p_user_id => @user_id, p_app_name => @app_name, p_skill_name => @skill_name, p_manifest => @manifest,
    p_front_matter => @front_matter, p_tags => @tags::text[],
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()))::uuid AS id;

-- name: KnowledgeUpdate :one
SELECT hippocampus.update_knowledge_base(
    p_user_id => @user_id, p_app_name => @app_name, p_category => @category, p_title => @title, p_content => @content,
    p_trust => @trust, p_now => coalesce(sqlc.narg(now)::timestamptz, now()))::uuid AS id;
