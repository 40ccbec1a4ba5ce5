-- name: GraphAddObservations :one
SELECT hippocampus.graph_add_observations(p_user_id => @user_id, p_app_name => @app_name, p_observations => @observations)::jsonb AS results;

-- name: GraphCreateEntities :one
SELECT hippocampus.graph_create_entities(p_user_id => @user_id, p_app_name => @app_name, p_entities => @entities)::jsonb AS created;

-- name: GraphCreateRelations :one
SELECT hippocampus.graph_create_relations(p_user_id => @user_id, p_app_name => @app_name, p_relations => @relations)::jsonb AS created;

-- name: GraphDeleteEntities :one
SELECT hippocampus.graph_delete_entities(p_user_id => @user_id, p_app_name => @app_name, p_names => @names::text[])::integer AS deleted;

-- name: GraphDeleteObservations :one
SELECT hippocampus.graph_delete_observations(p_user_id => @user_id, p_app_name => @app_name, p_deletions => @deletions)::integer AS deleted;

-- name: GraphDeleteRelations :one
SELECT hippocampus.graph_delete_relations(p_user_id => @user_id, p_app_name => @app_name, p_relations => @relations)::integer AS deleted;

-- name: GraphOpen :one
SELECT hippocampus.graph_open(p_user_id => @user_id, p_app_name => @app_name, p_names => @names::text[])::jsonb AS graph;

-- name: GraphRead :one
SELECT hippocampus.graph_read(p_user_id => @user_id, p_app_name => @app_name)::jsonb AS graph;

-- name: GraphSearch :one
SELECT hippocampus.graph_search(p_user_id => @user_id, p_app_name => @app_name, p_query => @query)::jsonb AS graph;
