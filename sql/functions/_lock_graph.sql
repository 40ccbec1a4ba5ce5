-- Writers of one user's graph follow each other until their transactions end: an order of creation needs it,
-- and those that write the same names in different orders would deadlock without it.
CREATE OR REPLACE FUNCTION hippocampus._lock_graph(
    p_user_id text,
    p_app_name text
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(format('hippocampus.graph %L %L', p_user_id, p_app_name), 0));
END
$fn$;
COMMENT ON FUNCTION hippocampus._lock_graph IS 'Waits for the other writers of a user''s graph, and holds it until the transaction ends.';
REVOKE ALL ON FUNCTION hippocampus._lock_graph FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._lock_graph TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
