CREATE OR REPLACE FUNCTION hippocampus.forget_memory(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_query_embedding public.vector DEFAULT NULL,
    p_threshold double precision DEFAULT NULL,
    p_limit integer DEFAULT 100,
    p_log text DEFAULT 'keep'
) RETURNS SETOF hippocampus.forgotten_counts
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RETURN NEXT hippocampus._forget_rows(p_user_id, p_app_name,
        ARRAY(SELECT m.id FROM hippocampus._meant_rows(p_user_id, p_app_name, p_query, p_query_embedding, p_threshold, p_limit) m),
        p_log, p_query);
END
$fn$;
COMMENT ON FUNCTION hippocampus.forget_memory IS
    'Forgets what a description means: deletes and passes over what preview_forget lists, as forget does, and keeps no record of the request. Returns how many memories and facts are gone, and how many events are passed over from now on (with p_log ''erase'', emptied).';
REVOKE ALL ON FUNCTION hippocampus.forget_memory FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.forget_memory TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
