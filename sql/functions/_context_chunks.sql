-- The chunks of documents that a window or a block could show, best first. Whoever wrote a document, its words are
-- data: each says that it is a document's, then where it stands. The path is a text like any other, and so it stands
-- behind the mark, where it cannot look like one.
CREATE OR REPLACE FUNCTION hippocampus._context_chunks(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_query_embedding public.vector,
    p_project_anchors text[]
) RETURNS TABLE (rank bigint, id uuid, score double precision, line text, cost integer)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 30
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF p_project_anchors IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT row_number() OVER (ORDER BY a.score DESC, a.row_id), a.row_id, a.score,
        hippocampus._context_line('- [document] ', d.place || a.content),
        -- no text has more tokens than bytes
        hippocampus._context_price(a.token_count, 10 + octet_length(d.place), d.place || a.content, true)
    FROM hippocampus.lookup_anchors(p_user_id, p_app_name, p_query, p_query_embedding, p_project_anchors) a
    CROSS JOIN LATERAL (SELECT a.path || ':' || a.start_line || ': ' AS place) d
    WHERE a.origin = 'chunk';
END
$fn$;
COMMENT ON FUNCTION hippocampus._context_chunks IS
    'The chunks of documents that a window or a block could show where p_project_anchors asks for them, best first, with the tokens that each costs at most.';
REVOKE ALL ON FUNCTION hippocampus._context_chunks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._context_chunks
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
