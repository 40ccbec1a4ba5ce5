-- Refuses a scope that no row can have, so that a forgotten argument is an error and not an empty answer.
CREATE OR REPLACE FUNCTION hippocampus._check_scope(
    p_user_id text,
    p_app_name text
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF coalesce(octet_length(p_user_id), 0) NOT BETWEEN 1 AND 255 THEN
        RAISE EXCEPTION 'p_user_id is %', CASE WHEN p_user_id IS NULL THEN 'null' WHEN p_user_id = '' THEN 'empty'
                ELSE octet_length(p_user_id) || ' bytes long' END
            USING ERRCODE = 'HC001', HINT = 'Give the id of the user whose memory this is, 1 to 255 bytes.';
    END IF;
    PERFORM hippocampus._check_app(p_app_name);
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_scope IS 'Raises HC001 where the user or the app is null, empty, reserved or too long.';
REVOKE ALL ON FUNCTION hippocampus._check_scope FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_scope
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
