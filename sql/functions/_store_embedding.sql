-- Writes the vector of one row: see _store_embeddings.
CREATE OR REPLACE FUNCTION hippocampus._store_embedding(
    p_user_id text,
    p_app_name text,
    p_source text,
    p_row_id uuid,
    p_embedding public.vector,
    p_model text
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._store_embeddings(p_user_id, p_app_name, p_source, ARRAY[p_row_id], ARRAY[p_embedding], p_model);
END
$fn$;
COMMENT ON FUNCTION hippocampus._store_embedding IS 'Writes the vector of a row, whether or not the row is there yet.';
REVOKE ALL ON FUNCTION hippocampus._store_embedding FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._store_embedding TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
