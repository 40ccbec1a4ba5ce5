-- Deletes a document with its chunks, their words and vectors, and their places in anchor lists.
CREATE OR REPLACE FUNCTION hippocampus.delete_document(
    p_user_id text,
    p_app_name text,
    p_path text
) RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_size('p_path', p_path, 1, 1024);
    DELETE FROM hippocampus.documents d WHERE d.user_id = p_user_id AND d.app_name = p_app_name AND d.path = p_path;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM hippocampus._clear_terms(p_user_id, p_app_name);
    RETURN true;
END
$fn$;
COMMENT ON FUNCTION hippocampus.delete_document IS
    'Deletes a document with its chunks, and the anchors that only they said. Returns whether there was one.';
REVOKE ALL ON FUNCTION hippocampus.delete_document FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.delete_document
    TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
