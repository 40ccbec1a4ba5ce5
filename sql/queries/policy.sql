-- name: PolicyAdapt :one
SELECT hippocampus.adapt_consolidation(p_min_events => 200)::integer AS moved;

-- name: PolicyEnqueueDue :one
SELECT hippocampus.enqueue_due_consolidations(p_limit => @max_rows)::integer AS enqueued;

-- name: PolicyGet :one
SELECT * FROM hippocampus._consolidation_policy(p_app_name => @app_name);

-- name: PolicyIsDue :one
SELECT (EXISTS (SELECT FROM hippocampus.consolidation_policies p WHERE p.enabled OR p.sleep_enabled)
    OR EXISTS (SELECT FROM hippocampus.unconsolidated_threads u)
    OR EXISTS (SELECT FROM hippocampus.shared_memories s WHERE s.embedding IS NULL))::boolean AS due;

-- name: PolicyRefreshShared :one
SELECT hippocampus.refresh_shared_memories(p_limit => @max_rows)::integer AS refreshed;

