-- Refuses an app that no row can have; '*', which stands for all of them, only where a deployment has a row too.
CREATE OR REPLACE FUNCTION hippocampus._check_app(
    p_app_name text,
    p_any boolean DEFAULT false
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF coalesce(octet_length(p_app_name), 0) NOT BETWEEN 1 AND 255 OR p_app_name = '*' AND NOT p_any THEN
        RAISE EXCEPTION 'p_app_name is %', CASE WHEN p_app_name IS NULL THEN 'null' WHEN p_app_name = '' THEN 'empty'
                WHEN p_app_name = '*' THEN 'reserved: *' ELSE octet_length(p_app_name) || ' bytes long' END
            USING ERRCODE = 'HC001', HINT = 'Give the name of the application, 1 to 255 bytes' || CASE WHEN p_any
                THEN ', or ''*'' for the deployment.' ELSE ', other than ''*''.' END;
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_app IS 'Raises HC001 where the app is null, empty, too long, or (unless p_any) reserved.';
REVOKE ALL ON FUNCTION hippocampus._check_app FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_app
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
