-- name: SettingGet :one
-- Null where neither the app nor the deployment has it.
SELECT hippocampus._setting(p_app_name => @app_name, p_key => @key) AS value;
