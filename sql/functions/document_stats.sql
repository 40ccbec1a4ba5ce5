-- What a tenant's corpus is, and how its anchor index stands.
CREATE OR REPLACE FUNCTION hippocampus.document_stats(
    p_user_id text,
    p_app_name text
) RETURNS SETOF hippocampus.document_statistics
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_index hippocampus.anchor_indexes;
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    SELECT i.* INTO v_index FROM hippocampus.anchor_indexes i WHERE i.user_id = p_user_id AND i.app_name = p_app_name;
    RETURN QUERY
    SELECT (SELECT count(*) FROM hippocampus.documents d WHERE d.user_id = p_user_id AND d.app_name = p_app_name),
        c.chunks, c.tokens,
        (SELECT count(DISTINCT q.row_id) FROM hippocampus.embedding_queue q
         WHERE q.user_id = p_user_id AND q.app_name = p_app_name AND q.source = 'chunk'),
        coalesce(v_index.anchors, 0)::bigint, l.entries, l.entries_since, v_index.built_at,
        coalesce(v_index.lease_until > clock_timestamp(), false),
        (SELECT coalesce(array_agg(n.term ORDER BY n.term), '{}') FROM hippocampus.anchor_denials n
         WHERE n.user_id = p_user_id AND n.app_name = p_app_name),
        (SELECT array_agg(s.source::text ORDER BY s.source) FROM hippocampus.allowed_sources s
         WHERE s.user_id = p_user_id AND s.app_name = p_app_name)
    FROM (SELECT count(*) AS chunks, coalesce(sum(k.token_count), 0)::bigint AS tokens FROM hippocampus.chunks k
          WHERE k.user_id = p_user_id AND k.app_name = p_app_name) c
    CROSS JOIN (SELECT count(*) AS entries, count(*) FILTER (WHERE e.tier = 'episodic') AS entries_since FROM hippocampus.anchor_chunks e
          WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND e.generation = v_index.serving) l;
END
$fn$;
COMMENT ON FUNCTION hippocampus.document_stats IS
    'Counts of a user''s documents and chunks, the anchor index over them and when it was built, and what may not come up: denied anchors, and the sources that are allowed (null: all).';
REVOKE ALL ON FUNCTION hippocampus.document_stats FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.document_stats
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
