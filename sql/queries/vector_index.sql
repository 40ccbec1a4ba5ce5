-- name: VectorIndexCreate :exec
INSERT INTO hippocampus.vector_indexes (generation, user_id, app_name, source, index_name)
VALUES (@generation, @user_id, @app_name, @source, @index_name);

-- name: VectorIndexDelete :exec
DELETE FROM hippocampus.vector_indexes i
WHERE i.user_id = @user_id AND i.app_name = @app_name AND i.generation = @generation AND i.source = @source;

-- name: VectorIndexList :many
-- A row a tenant and source that has an index, or more than half as many vectors as make one worth while. An
-- index of a retired generation has no rows.
WITH current AS (
    -- one that is building gets its indexes when its rows are queued: before it serves, and not row by row
    SELECT g.generation FROM hippocampus.embedding_models g
    WHERE g.status IN ('serving', 'standby') OR g.status = 'building' AND g.queued_at IS NOT NULL
), large AS (
    -- the totals of the index of words say, without a look at the vectors, who may be large
    SELECT t.user_id, t.app_name, t.source, coalesce((hippocampus._setting(t.app_name, 'exact_search_rows'))::bigint, 10000) AS most
    FROM hippocampus.posting_totals t
    WHERE t.source IN ('memory', 'fact', 'chunk') AND t.rows > coalesce((hippocampus._setting(t.app_name, 'exact_search_rows'))::bigint, 10000) / 2
    UNION ALL
    -- Anchors are looked at for every question and every row that is stored, beside all else that these look at, and
    -- with nothing else to wait for: from a thousand or two on an index is faster.
    SELECT a.user_id, a.app_name, 'anchor', m.most
    FROM hippocampus.anchor_indexes a
    CROSS JOIN LATERAL (SELECT greatest(1, coalesce((hippocampus._setting(a.app_name, 'exact_search_rows'))::bigint, 10000) / 8) AS most) m
    WHERE a.anchors > m.most / 2
), counted AS (
    SELECT s.generation, l.user_id, l.app_name, l.source, l.most,
        (SELECT count(*) FROM hippocampus.embeddings e
         WHERE e.user_id = l.user_id AND e.app_name = l.app_name AND e.generation = s.generation AND e.source = l.source) AS rows
    FROM large l CROSS JOIN current s
)
SELECT coalesce(c.generation, i.generation)::integer AS generation, coalesce(c.user_id, i.user_id)::text AS user_id,
    coalesce(c.app_name, i.app_name)::text AS app_name, coalesce(c.source, i.source)::text AS source,
    coalesce(c.rows, 0)::bigint AS rows, coalesce(c.most, 0)::bigint AS most, coalesce(i.index_name, '')::text AS index_name,
    coalesce(i.status, '')::text AS status
FROM counted c
FULL JOIN hippocampus.vector_indexes i
    ON i.generation = c.generation AND i.user_id = c.user_id AND i.app_name = c.app_name AND i.source = c.source
ORDER BY 5 DESC, 2, 3, 4;

-- name: VectorIndexSetStatus :exec
UPDATE hippocampus.vector_indexes i SET status = @status
WHERE i.user_id = @user_id AND i.app_name = @app_name AND i.generation = @generation AND i.source = @source;

-- name: IndexMemory :one
SELECT hippocampus.index_memory()::bigint AS job_id;

-- name: IndexProgress :one
SELECT hippocampus.index_progress(p_job_id => @job_id)::jsonb AS progress;

-- name: VectorSignsMeasure :many
SELECT g.generation, g.signs_recall FROM hippocampus._measure_signs() g;
