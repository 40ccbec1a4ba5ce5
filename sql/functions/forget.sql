CREATE OR REPLACE FUNCTION hippocampus.forget(
    p_user_id text,
    p_app_name text,
    p_ids uuid[],
    p_log text DEFAULT 'keep'
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    RETURN (SELECT count(*) FROM hippocampus.events e -- of short-term memory, which have no memory yet
            WHERE e.id = ANY (p_ids) AND e.user_id = p_user_id AND e.app_name = p_app_name)
        + (SELECT c.memories + c.facts FROM hippocampus._forget_rows(p_user_id, p_app_name, p_ids, p_log) c);
END
$fn$;
COMMENT ON FUNCTION hippocampus.forget IS
    'Deletes memories and facts by id, and has events by id forgotten, with their vectors, words and provenance, and what else tells the same from the same events; of an event, or an episode of events, whatever was drawn from it that no other event tells as well. No consolidation brings them back. Returns how many were deleted, events included; ids of another tenant are not found. The text of the events that told them stays in the log, out of every search, or goes with p_log ''erase''.';
REVOKE ALL ON FUNCTION hippocampus.forget FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.forget TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
