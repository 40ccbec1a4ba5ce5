-- name: SettingGet :one
-- Null where neither the app nor the deployment has it.
SELECT hippocampus._setting(p_app_name => @app_name, p_key => @key) AS value;

-- name: SettingMerge :exec
-- Sets some parts of a setting that is an object, and leaves the others.
SELECT hippocampus.put_setting(p_app_name => @app_name, p_key => @key::text, p_value => coalesce((
    SELECT s.value FROM hippocampus.settings s WHERE s.app_name = @app_name AND s.key = @key::text), '{}') || @value::jsonb);
