-- Holds memories and facts that are about to be deleted, with the memories that are released by it (see
-- _release_superseded): in one order, and facts first, as a consolidation writes them. From here on, nobody gives them
-- another source, and the next statement sees all that they have.
CREATE OR REPLACE FUNCTION hippocampus._hold_rows(
    p_user_id text,
    p_app_name text,
    p_ids uuid[]
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM FROM hippocampus.facts f
    WHERE f.id = ANY (p_ids) AND f.user_id = p_user_id AND f.app_name = p_app_name ORDER BY f.id FOR UPDATE;
    PERFORM FROM hippocampus.memories m
    WHERE (m.id = ANY (p_ids) OR m.superseded_by = ANY (p_ids)) AND m.user_id = p_user_id AND m.app_name = p_app_name ORDER BY m.id FOR UPDATE;
END
$fn$;
COMMENT ON FUNCTION hippocampus._hold_rows IS 'Locks memories and facts that are about to be deleted.';
REVOKE ALL ON FUNCTION hippocampus._hold_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._hold_rows TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
