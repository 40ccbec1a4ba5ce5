-- The memories that hang together with one: along links in both directions, nearest first. A level at a time, each
-- memory once, so that cycles end. The way may lead over superseded memories, which take no place of others.
CREATE OR REPLACE FUNCTION hippocampus.linked_memories(
    p_user_id text,
    p_app_name text,
    p_memory_id uuid,
    p_depth integer DEFAULT 1,
    p_link_types text[] DEFAULT NULL,
    p_limit integer DEFAULT 50
) RETURNS SETOF hippocampus.recollections
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 50
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_ids uuid[] := ARRAY[p_memory_id];
    v_scores double precision[] := ARRAY[1.0];
    v_front integer := 1; -- where the level begins that was reached last
    v_end integer;
    v_found integer := 0;
    v_next record;
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_depth', p_depth, 1, 5);
    PERFORM hippocampus._check_range('p_limit', p_limit, 0, 10000);
    PERFORM hippocampus._check_each_of('p_link_types', p_link_types,
        ARRAY['related_to', 'caused_by', 'follows', 'supports', 'contradicts', 'part_of', 'derived_from']);
    FOR v_level IN 1..p_depth LOOP
        v_end := cardinality(v_ids);
        EXIT WHEN v_front > v_end OR v_found >= p_limit;
        SELECT array_agg(n.id ORDER BY n.score DESC, n.id) AS ids, array_agg(n.score ORDER BY n.score DESC, n.id) AS scores,
            count(*) FILTER (WHERE n.holds) AS found INTO v_next
        FROM (
            SELECT e.id, max(e.weight * f.score) AS score, bool_and(m.superseded_by IS NULL) AS holds
            FROM unnest(v_ids[v_front:v_end], v_scores[v_front:v_end]) AS f (id, score)
            CROSS JOIN LATERAL (
                SELECT l.to_id AS id, l.weight FROM hippocampus.memory_links l
                WHERE l.from_id = f.id AND l.user_id = p_user_id AND l.app_name = p_app_name
                  AND (p_link_types IS NULL OR l.link_type = ANY (p_link_types))
                UNION ALL
                SELECT l.from_id, l.weight FROM hippocampus.memory_links l
                WHERE l.to_id = f.id AND l.user_id = p_user_id AND l.app_name = p_app_name
                  AND (p_link_types IS NULL OR l.link_type = ANY (p_link_types))
            ) e
            JOIN hippocampus.memories m ON m.id = e.id AND m.user_id = p_user_id AND m.app_name = p_app_name
            WHERE e.id <> ALL (v_ids)
            GROUP BY e.id ORDER BY holds DESC, score DESC, e.id LIMIT p_limit
        ) n;
        v_front := v_end + 1;
        v_ids := v_ids || v_next.ids;
        v_scores := v_scores || v_next.scores;
        v_found := v_found + v_next.found;
    END LOOP;
    RETURN QUERY
    SELECT 'long', m.id, m.category, m.memory_type, m.content, f.score,
        hippocampus._effective_importance(m.importance, m.access_count), m.tags, m.metadata, m.author, m.source, m.thread_id,
        m.from_seq, m.to_seq, m.occurred_from, m.last_accessed_at, m.access_count, NULL::text, m.trust
    FROM unnest(v_ids[2:], v_scores[2:]) WITH ORDINALITY AS f (id, score, place)
    JOIN hippocampus.memories m ON m.id = f.id AND m.user_id = p_user_id AND m.app_name = p_app_name
    WHERE m.superseded_by IS NULL
    ORDER BY f.place LIMIT p_limit;
END
$fn$;
COMMENT ON FUNCTION hippocampus.linked_memories IS
    'The memories that are linked with one, in either direction, up to p_depth links away; nearest first. Score is the product of the weights on the way.';
REVOKE ALL ON FUNCTION hippocampus.linked_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.linked_memories
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
