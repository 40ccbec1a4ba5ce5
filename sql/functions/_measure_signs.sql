-- Measures whether the signs of vectors tell enough to find what is near, for each generation: of the ten nearest
-- to a row, which share is among the 100 with most signs in common, over ten rows of each of the five largest
-- tenants that are not due for an index. The worst of these tenants counts. A row stands for a question. It takes a
-- tenant of 1,000 to tell; where these tenants have grown to twice their size it is measured anew. A tenant's vectors
-- are read once for all ten.
CREATE OR REPLACE FUNCTION hippocampus._measure_signs()
RETURNS SETOF hippocampus.embedding_models
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RETURN QUERY
    WITH large AS MATERIALIZED ( -- the totals of the index of words say who may be large; what counts are vectors
        SELECT g.generation, t.user_id, t.app_name, t.source, v.rows
        FROM hippocampus.embedding_models g
        CROSS JOIN LATERAL (
            SELECT p.user_id, p.app_name, p.source
            FROM hippocampus.posting_totals p
            WHERE p.source IN ('memory', 'fact', 'chunk') AND NOT EXISTS (
                SELECT FROM hippocampus.vector_indexes i WHERE i.user_id = p.user_id AND i.app_name = p.app_name
                    AND i.generation = g.generation AND i.source = p.source)
              AND p.rows BETWEEN 1000 AND coalesce(hippocampus._setting(p.app_name, 'exact_search_rows')::bigint, 10000)
            ORDER BY p.rows DESC, p.user_id, p.app_name, p.source LIMIT 5) t
        CROSS JOIN LATERAL (
            SELECT count(*) AS rows FROM hippocampus.embeddings e
            WHERE e.user_id = t.user_id AND e.app_name = t.app_name AND e.generation = g.generation AND e.source = t.source) v
        WHERE g.status <> 'retired' AND v.rows >= 1000
    ), due AS MATERIALIZED (
        SELECT l.generation, sum(l.rows)::bigint AS rows
        FROM large l JOIN hippocampus.embedding_models g ON g.generation = l.generation
        GROUP BY l.generation, g.signs_rows HAVING sum(l.rows) >= 2 * coalesce(g.signs_rows, 0)
    ), compared AS (
        SELECT l.generation, l.user_id, l.app_name, l.source, q.row_id,
            row_number() OVER (PARTITION BY l.generation, l.user_id, l.app_name, l.source, q.row_id
                ORDER BY e.embedding OPERATOR(public.<#>) q.embedding, e.row_id) AS near,
            row_number() OVER (PARTITION BY l.generation, l.user_id, l.app_name, l.source, q.row_id
                ORDER BY e.signs OPERATOR(public.<~>) q.signs, e.row_id) AS alike
        FROM large l
        JOIN due d ON d.generation = l.generation
        JOIN hippocampus.embeddings e ON e.user_id = l.user_id AND e.app_name = l.app_name AND e.generation = l.generation AND e.source = l.source
        CROSS JOIN LATERAL (
            SELECT r.row_id, r.embedding, r.signs FROM hippocampus.embeddings r
            WHERE r.user_id = l.user_id AND r.app_name = l.app_name AND r.generation = l.generation AND r.source = l.source
            ORDER BY r.row_id LIMIT 10) q
        WHERE e.row_id <> q.row_id
    ), probed AS (
        SELECT c.generation, c.user_id, c.app_name, c.source, avg((c.alike <= 100)::integer)::double precision AS recall
        FROM compared c WHERE c.near <= 10 GROUP BY c.generation, c.user_id, c.app_name, c.source
    )
    UPDATE hippocampus.embedding_models g SET signs_recall = m.recall, signs_rows = d.rows
    FROM due d
    JOIN (SELECT p.generation, min(p.recall) AS recall FROM probed p GROUP BY p.generation) m ON m.generation = d.generation
    WHERE g.generation = d.generation AND m.recall IS NOT NULL
    RETURNING g.*;
END
$fn$;
COMMENT ON FUNCTION hippocampus._measure_signs IS
    'Measures whether the signs of vectors tell enough to search by them, and writes it to embedding_models; returns the generations that were measured.';
REVOKE ALL ON FUNCTION hippocampus._measure_signs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._measure_signs TO hippocampus_worker;
