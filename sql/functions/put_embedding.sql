-- Stores the vector of a memory, fact, chunk, anchor or item of the store in each generation of its model, replacing one
-- that is there, and takes the row off the queue. The row is locked meanwhile: one that is being forgotten while its text is with the
-- model must not leave its vector behind. One that is gone, or superseded, is passed over. Put several in the order of their
-- ids, the order in which forget locks them.
CREATE OR REPLACE FUNCTION hippocampus.put_embedding(
    p_user_id text,
    p_app_name text,
    p_source text,
    p_row_id uuid,
    p_embedding public.vector,
    p_model text DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_one_of('p_source', p_source, ARRAY['memory', 'fact', 'chunk', 'anchor', 'store']);
    IF p_embedding IS NULL THEN
        RAISE EXCEPTION 'p_embedding is null' USING ERRCODE = 'HC005', HINT = 'Give the vector of the row.';
    END IF;
    IF p_source = 'memory' THEN
        PERFORM FROM hippocampus.memories m
        WHERE m.id = p_row_id AND m.user_id = p_user_id AND m.app_name = p_app_name AND m.superseded_by IS NULL FOR KEY SHARE;
    ELSIF p_source = 'chunk' THEN
        PERFORM FROM hippocampus.chunks c
        WHERE c.id = p_row_id AND c.user_id = p_user_id AND c.app_name = p_app_name FOR KEY SHARE;
    ELSIF p_source = 'anchor' THEN
        PERFORM FROM hippocampus.anchors a
        WHERE a.id = p_row_id AND a.user_id = p_user_id AND a.app_name = p_app_name FOR KEY SHARE;
    ELSIF p_source = 'fact' THEN
        PERFORM FROM hippocampus.facts f
        WHERE f.id = p_row_id AND f.user_id = p_user_id AND f.app_name = p_app_name FOR KEY SHARE;
    ELSE
        PERFORM FROM hippocampus.store_items s
        WHERE s.id = p_row_id AND s.user_id = p_user_id AND s.app_name = p_app_name FOR KEY SHARE;
    END IF;
    IF NOT FOUND THEN -- a vector that cannot be one is refused all the same
        PERFORM hippocampus._unit_vector('p_embedding', p_embedding, g.dimension)
        FROM hippocampus.embedding_models g WHERE g.status <> 'retired'
        ORDER BY g.model = p_model DESC NULLS LAST, g.status = 'serving' DESC LIMIT 1;
        RETURN;
    END IF;
    PERFORM hippocampus._store_embedding(p_user_id, p_app_name, p_source, p_row_id, p_embedding, p_model);
END
$fn$;
COMMENT ON FUNCTION hippocampus.put_embedding IS
    'Stores the vector of a memory, fact, chunk, anchor or item of the store (p_source) and takes the row off embedding_queue; a row that is gone or superseded is passed over. Any length is brought to 1. The first p_model that a trusted login (service, worker, owner) names is the deployment''s from then on; null is taken for it, as is any that a bound login names before. Raises HC004 (dimension), HC005 (no direction), HC014 (a model of no generation).';
REVOKE ALL ON FUNCTION hippocampus.put_embedding FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.put_embedding TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
