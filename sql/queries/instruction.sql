-- name: InstructionPut :one
SELECT hippocampus.put_instruction(
    p_app_name => @app_name, p_instruction_key => @instruction_key, p_content => @content, p_metadata => @metadata,
    p_token_count => sqlc.narg(token_count))::integer AS version;

-- name: InstructionRollback :one
SELECT * FROM hippocampus.rollback_instruction(
    p_app_name => @app_name, p_instruction_key => @instruction_key, p_version => sqlc.narg(version));
