-- Makes the lists of the next anchors of a rebuild: the nearest chunks and memories at theta or more. Returns the
-- last anchor dealt with, to go on after; null at the end. A row that is being deleted is passed over, not waited for.
CREATE OR REPLACE FUNCTION hippocampus._fill_anchors(
    p_user_id text,
    p_app_name text,
    p_token uuid,
    p_lease_seconds double precision,
    p_after_id uuid,
    p_limit integer
) RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_building integer := hippocampus._hold_anchor_build(p_user_id, p_app_name, p_token, p_lease_seconds);
    v_settings jsonb := hippocampus._anchor_settings(p_app_name);
    v_most integer := (v_settings -> 'per_anchor')::integer;
    v_listed boolean := EXISTS (SELECT FROM hippocampus.allowed_sources a WHERE a.user_id = p_user_id AND a.app_name = p_app_name);
    v_last uuid;
    v_anchor record;
BEGIN
    FOR v_anchor IN
        SELECT a.id, e.embedding FROM hippocampus.anchors a
        CROSS JOIN hippocampus._query_generation(NULL) g
        LEFT JOIN hippocampus.embeddings e ON e.user_id = p_user_id AND e.app_name = p_app_name AND e.generation = g.generation
            AND e.source = 'anchor' AND e.row_id = a.id
        WHERE a.user_id = p_user_id AND a.app_name = p_app_name AND a.until = v_building AND (p_after_id IS NULL OR a.id > p_after_id)
        ORDER BY a.id LIMIT p_limit
    LOOP
        v_last := v_anchor.id;
        WITH near AS MATERIALIZED (
            SELECT o.origin, v.row_id, v.similarity FROM (VALUES ('chunk'), ('memory')) AS o (origin)
            CROSS JOIN LATERAL hippocampus._vector_hits(p_user_id, p_app_name, o.origin, v_anchor.embedding::public.vector,
                CASE WHEN v_listed THEN 10 * v_most ELSE v_most END) v
            WHERE v.similarity >= (v_settings -> 'theta')::double precision
        ), kept AS (
            SELECT n.similarity, c.id AS chunk_id, NULL::uuid AS memory_id, d.source FROM near n
            JOIN LATERAL (SELECT k.id, k.document_id FROM hippocampus.chunks k
                WHERE n.origin = 'chunk' AND k.id = n.row_id AND k.user_id = p_user_id AND k.app_name = p_app_name
                FOR KEY SHARE SKIP LOCKED) c ON true
            JOIN hippocampus.documents d ON d.id = c.document_id AND d.user_id = p_user_id AND d.app_name = p_app_name
            UNION ALL
            SELECT n.similarity, NULL, m.id, m.source FROM near n
            JOIN LATERAL (SELECT k.id, k.source FROM hippocampus.memories k
                WHERE n.origin = 'memory' AND k.id = n.row_id AND k.user_id = p_user_id AND k.app_name = p_app_name
                  AND k.superseded_by IS NULL FOR KEY SHARE SKIP LOCKED) m ON true
        )
        INSERT INTO hippocampus.anchor_chunks (generation, score, anchor_id, row_id, chunk_id, memory_id, user_id, app_name)
        SELECT v_building, k.similarity, v_anchor.id, coalesce(k.chunk_id, k.memory_id), k.chunk_id, k.memory_id, p_user_id, p_app_name
        FROM kept k WHERE NOT v_listed OR hippocampus._source_allowed(p_user_id, p_app_name, k.source)
        ORDER BY k.similarity DESC, coalesce(k.chunk_id, k.memory_id) LIMIT v_most
        ON CONFLICT (anchor_id, generation, row_id, user_id, app_name) DO NOTHING;
    END LOOP;
    RETURN v_last;
END
$fn$;
COMMENT ON FUNCTION hippocampus._fill_anchors IS
    'Makes the lists of the next anchors of a rebuild; returns the last one, null when there are none.';
REVOKE ALL ON FUNCTION hippocampus._fill_anchors FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._fill_anchors
    TO hippocampus_service, hippocampus_worker;
