-- name: StoreDelete :one
SELECT hippocampus.store_delete(
    p_user_id => @user_id, p_app_name => @app_name, p_namespace => @namespace::text[], p_key => @key,
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()))::boolean AS deleted;

-- name: StoreGet :one
SELECT * FROM hippocampus.store_get(
    p_user_id => @user_id, p_app_name => @app_name, p_namespace => @namespace::text[], p_key => @key,
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()));

-- name: StoreGetRefreshed :one
SELECT r.namespace, r.key, r.value, r.created_at, r.updated_at, r.expires_at, r.score FROM hippocampus.store_refresh(p_user_id => @user_id, p_app_name => @app_name,
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()), p_entries => ARRAY(SELECT e FROM hippocampus.store_get(
        p_user_id => @user_id, p_app_name => @app_name, p_namespace => @namespace::text[], p_key => @key,
        p_now => coalesce(sqlc.narg(now)::timestamptz, now())) e)) r;

-- name: StoreListNamespaces :many
SELECT n.namespace FROM hippocampus.store_list_namespaces(
    p_user_id => @user_id, p_app_name => @app_name, p_prefix => @prefix::text[], p_suffix => @suffix::text[],
    p_max_depth => sqlc.narg(max_depth), p_limit => @max_rows, p_offset => @skip_rows,
    p_now => coalesce(sqlc.narg(now)::timestamptz, now())) n;

-- name: StoreLockKeys :exec
-- Before several items are written, those that are, in one order.
SELECT hippocampus._lock_store_keys(@user_id, @app_name,
    ARRAY(SELECT hippocampus._namespace_path(ARRAY(SELECT jsonb_array_elements_text(i.item -> 'namespace')))
          FROM jsonb_array_elements(@items::jsonb) WITH ORDINALITY AS i (item, n) ORDER BY i.n),
    ARRAY(SELECT i.item ->> 'key' FROM jsonb_array_elements(@items::jsonb) WITH ORDINALITY AS i (item, n) ORDER BY i.n));

-- name: StorePut :one
SELECT * FROM hippocampus.store_put(
    p_user_id => @user_id, p_app_name => @app_name, p_namespace => @namespace::text[], p_key => @key, p_value => @value,
    p_ttl => make_interval(secs => sqlc.narg(ttl_seconds)::float8), p_index => sqlc.narg(index)::text[],
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()));

-- name: StoreSearch :many
SELECT * FROM hippocampus.store_search(
    p_user_id => @user_id, p_app_name => @app_name, p_namespace_prefix => @namespace_prefix::text[], p_query => @query,
    p_query_embedding => sqlc.narg(query_embedding), p_filter => @filter, p_limit => @max_rows, p_offset => @skip_rows,
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()));

-- name: StoreSearchRefreshed :many
SELECT r.namespace, r.key, r.value, r.created_at, r.updated_at, r.expires_at, r.score FROM hippocampus.store_refresh(p_user_id => @user_id, p_app_name => @app_name,
    p_now => coalesce(sqlc.narg(now)::timestamptz, now()), p_entries => ARRAY(SELECT e FROM hippocampus.store_search(
        p_user_id => @user_id, p_app_name => @app_name, p_namespace_prefix => @namespace_prefix::text[], p_query => @query,
        p_query_embedding => sqlc.narg(query_embedding), p_filter => @filter, p_limit => @max_rows, p_offset => @skip_rows,
        p_now => coalesce(sqlc.narg(now)::timestamptz, now())) e)) r;

-- name: StoreSweep :one
SELECT hippocampus.sweep_store(p_limit => @max_rows)::integer AS deleted;
