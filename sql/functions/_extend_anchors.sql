-- Puts a row that has just got its vector into the lists of the anchors that there are. A rebuild that is under way
-- gets it too: it waits for the writers that are here, and they for the moment in which it begins (FOR SHARE), so
-- that each row is seen by the one or the other.
CREATE OR REPLACE FUNCTION hippocampus._extend_anchors(
    p_user_id text,
    p_app_name text,
    p_origin text,
    p_row_id uuid,
    p_source text,
    p_embedding public.halfvec
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_index hippocampus.anchor_indexes;
    v_settings jsonb;
BEGIN
    SELECT i.* INTO v_index FROM hippocampus.anchor_indexes i WHERE i.user_id = p_user_id AND i.app_name = p_app_name FOR SHARE;
    IF NOT FOUND OR v_index.serving = 0 AND v_index.building IS NULL -- of a corpus that has no anchors yet
        OR NOT hippocampus._source_allowed(p_user_id, p_app_name, p_source) THEN
        RETURN;
    END IF;
    v_settings := hippocampus._anchor_settings(p_app_name);
    INSERT INTO hippocampus.anchor_chunks (generation, score, anchor_id, row_id, chunk_id, memory_id, user_id, app_name, tier)
    SELECT g.generation, n.similarity, n.id, p_row_id, CASE p_origin WHEN 'chunk' THEN p_row_id END,
        CASE p_origin WHEN 'memory' THEN p_row_id END, p_user_id, p_app_name, 'episodic'
    FROM unnest(ARRAY[nullif(v_index.serving, 0), v_index.building]) AS g (generation)
    CROSS JOIN LATERAL hippocampus._near_anchors(p_user_id, p_app_name, g.generation, p_embedding::public.vector,
        (v_settings -> 'theta')::double precision, 100, true) n
    WHERE g.generation IS NOT NULL
    ORDER BY n.id
    ON CONFLICT (anchor_id, generation, row_id, user_id, app_name) DO NOTHING;
    DELETE FROM hippocampus.anchor_chunks d USING (
        SELECT l.anchor_id, l.generation FROM hippocampus.anchor_chunks l
        WHERE (l.chunk_id = p_row_id OR l.memory_id = p_row_id) AND l.user_id = p_user_id AND l.app_name = p_app_name) t
    CROSS JOIN LATERAL (
        SELECT c.row_id FROM hippocampus.anchor_chunks c
        WHERE c.anchor_id = t.anchor_id AND c.generation = t.generation AND c.user_id = p_user_id AND c.app_name = p_app_name
        ORDER BY c.score DESC, c.row_id OFFSET (v_settings -> 'cap')::integer) o
    WHERE d.anchor_id = t.anchor_id AND d.generation = t.generation AND d.row_id = o.row_id
      AND d.user_id = p_user_id AND d.app_name = p_app_name;
END
$fn$;
COMMENT ON FUNCTION hippocampus._extend_anchors IS
    'Puts a row into the lists of the anchors near to it.';
REVOKE ALL ON FUNCTION hippocampus._extend_anchors FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._extend_anchors
    TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
