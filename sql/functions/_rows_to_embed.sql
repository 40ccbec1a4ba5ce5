-- The rows that are to have a vector, source by source, in the order of their ids, after one of them.
CREATE OR REPLACE FUNCTION hippocampus._rows_to_embed(
    p_source text,
    p_after uuid,
    p_limit integer
) RETURNS TABLE (row_id uuid, user_id text, app_name text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    CASE p_source
        WHEN 'memory' THEN
            RETURN QUERY SELECT m.id, m.user_id, m.app_name FROM hippocampus.memories m
            WHERE m.id > p_after AND m.superseded_by IS NULL ORDER BY m.id LIMIT p_limit;
        WHEN 'fact' THEN
            RETURN QUERY SELECT f.id, f.user_id, f.app_name FROM hippocampus.facts f
            WHERE f.id > p_after ORDER BY f.id LIMIT p_limit;
        WHEN 'chunk' THEN
            RETURN QUERY SELECT c.id, c.user_id, c.app_name FROM hippocampus.chunks c
            WHERE c.id > p_after ORDER BY c.id LIMIT p_limit;
        WHEN 'anchor' THEN
            RETURN QUERY SELECT a.id, a.user_id, a.app_name FROM hippocampus.anchors a
            WHERE a.id > p_after ORDER BY a.id LIMIT p_limit;
        WHEN 'store' THEN
            RETURN QUERY SELECT s.id, s.user_id, s.app_name FROM hippocampus.store_items s
            WHERE s.id > p_after AND s.text <> '' ORDER BY s.id LIMIT p_limit;
    END CASE;
END
$fn$;
COMMENT ON FUNCTION hippocampus._rows_to_embed IS 'Rows of a source that are to have a vector, in the order of their ids.';
REVOKE ALL ON FUNCTION hippocampus._rows_to_embed FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._rows_to_embed TO hippocampus_worker;
