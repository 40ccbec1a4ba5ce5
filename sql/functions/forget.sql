-- Deletes memories, hard: their rows, vectors, words and provenance go with them.
CREATE OR REPLACE FUNCTION hippocampus.forget(
    p_user_id text,
    p_app_name text,
    p_ids uuid[]
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_memories integer;
    v_facts integer;
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    WITH held AS (
        SELECT m.id FROM hippocampus.memories m
        WHERE m.id = ANY (p_ids) AND m.user_id = p_user_id AND m.app_name = p_app_name ORDER BY m.id FOR UPDATE)
    DELETE FROM hippocampus.memories m USING held h
    WHERE m.id = h.id AND m.user_id = p_user_id AND m.app_name = p_app_name;
    GET DIAGNOSTICS v_memories = ROW_COUNT;
    WITH held AS (
        SELECT f.id FROM hippocampus.facts f
        WHERE f.id = ANY (p_ids) AND f.user_id = p_user_id AND f.app_name = p_app_name ORDER BY f.id FOR UPDATE)
    DELETE FROM hippocampus.facts f USING held h
    WHERE f.id = h.id AND f.user_id = p_user_id AND f.app_name = p_app_name;
    GET DIAGNOSTICS v_facts = ROW_COUNT;
    RETURN v_memories + v_facts;
END
$fn$;
COMMENT ON FUNCTION hippocampus.forget IS
    'Deletes memories and facts by id, with their vectors, words and provenance. Returns how many were deleted; ids of another tenant are not found. The events they came from stay in the log.';
REVOKE ALL ON FUNCTION hippocampus.forget FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.forget TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
