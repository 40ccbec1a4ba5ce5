-- What a description means: memories and facts, of the history too, whose vector is as near to it as p_threshold,
-- or, without a vector on either side, that hold that share of its words. A summary of a thread goes with the events that
-- it tells, and takes no place among p_limit; the name of a cluster tells of memories that may have faded, and is meant
-- by itself.
CREATE OR REPLACE FUNCTION hippocampus._meant_rows(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_query_embedding public.vector,
    p_threshold double precision,
    p_limit integer
) RETURNS SETOF hippocampus.forget_matches
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_threshold double precision := coalesce(p_threshold, (hippocampus._bands(p_app_name) ->> 'forget')::double precision);
    v_generation integer := (hippocampus._query_generation(public.vector_dims(p_query_embedding))).generation;
    v_reach integer := p_limit;
    v_further boolean;
    v_ids uuid[];
    v_near double precision[];
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_size('p_query', p_query, 1, 1048576);
    PERFORM hippocampus._check_range('p_threshold', v_threshold, 0, 1);
    PERFORM hippocampus._check_range('p_limit', p_limit, 1, 10000);
    LOOP
        SELECT array_agg(v.row_id), array_agg(v.similarity), count(*) = v_reach
                AND count(*) FILTER (WHERE m.memory_type = 'summary' AND m.thread_id IS NOT NULL) > v_reach - p_limit
        INTO v_ids, v_near, v_further
        FROM hippocampus._vector_hits(p_user_id, p_app_name, 'memory', p_query_embedding, v_reach) v
        LEFT JOIN hippocampus.memories m ON m.id = v.row_id AND m.user_id = p_user_id AND m.app_name = p_app_name
        WHERE v.similarity >= v_threshold;
        EXIT WHEN NOT v_further;
        v_reach := 4 * v_reach;
    END LOOP;
    RETURN QUERY
    WITH found AS (
        SELECT 'memory' AS source, n.row_id, n.similarity FROM unnest(v_ids, v_near) AS n (row_id, similarity)
        UNION ALL
        SELECT 'fact', v.row_id, v.similarity FROM hippocampus._vector_hits(p_user_id, p_app_name, 'fact', p_query_embedding, p_limit) v
        UNION ALL
        SELECT s.source, c.row_id, c.cover FROM (VALUES ('memory'), ('fact')) AS s (source)
        CROSS JOIN LATERAL hippocampus._words_cover(p_user_id, p_app_name, s.source, p_query, v_threshold) c
        WHERE p_query_embedding IS NULL OR NOT EXISTS (
            SELECT FROM hippocampus.embeddings e WHERE e.user_id = p_user_id AND e.app_name = p_app_name
              AND e.generation = v_generation AND e.source = s.source AND e.row_id = c.row_id)
    )
    SELECT f.source, f.row_id, coalesce(m.content, hippocampus._fact_text(t.key, t.value)), f.similarity,
        coalesce(m.occurred_from, t.valid_from), true
    FROM found f
    LEFT JOIN hippocampus.memories m ON f.source = 'memory' AND m.id = f.row_id AND m.user_id = p_user_id AND m.app_name = p_app_name
    LEFT JOIN hippocampus.facts t ON f.source = 'fact' AND t.id = f.row_id AND t.user_id = p_user_id AND t.app_name = p_app_name
    WHERE f.similarity >= v_threshold AND (m.id IS NOT NULL OR t.id IS NOT NULL) AND (m.memory_type = 'summary' AND m.thread_id IS NOT NULL) IS NOT TRUE
    ORDER BY f.similarity DESC, f.row_id
    LIMIT p_limit;
END
$fn$;
COMMENT ON FUNCTION hippocampus._meant_rows IS 'The memories and facts that a description means.';
REVOKE ALL ON FUNCTION hippocampus._meant_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._meant_rows
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
