-- Holds items of the store, there or not, until the transaction ends. In one order, whatever the caller's: two that
-- write several items follow each other.
CREATE OR REPLACE FUNCTION hippocampus._lock_store_keys(
    p_user_id text,
    p_app_name text,
    p_paths text[],
    p_keys text[]
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM pg_advisory_xact_lock(l.id) FROM (
        SELECT DISTINCT hashtextextended(format('hippocampus.store %L %L %L %L', p_user_id, p_app_name, i.path, i.key), 0) AS id
        FROM unnest(p_paths, p_keys) AS i (path, key) ORDER BY id) l;
END
$fn$;
COMMENT ON FUNCTION hippocampus._lock_store_keys IS
    'Holds items of the store by the paths of their namespaces and their keys, until the transaction ends.';
REVOKE ALL ON FUNCTION hippocampus._lock_store_keys FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._lock_store_keys TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
