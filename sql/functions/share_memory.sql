-- Shows one memory to all users of the app, or takes it back. What others see is the memory alone: see
-- shared_memories. What it was made from, or is linked with, stays private.
CREATE OR REPLACE FUNCTION hippocampus.share_memory(
    p_user_id text,
    p_app_name text,
    p_memory_id uuid,
    p_shared_by text DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_size('p_shared_by', coalesce(p_shared_by, p_user_id), 1, 255);
    UPDATE hippocampus.memories m SET visibility = 'app', shared_by = coalesce(p_shared_by, p_user_id)
    WHERE m.id = p_memory_id AND m.user_id = p_user_id AND m.app_name = p_app_name AND m.superseded_by IS NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'memory % is unknown', coalesce(p_memory_id::text, 'null')
            USING ERRCODE = 'HC011', HINT = 'It may be forgotten or superseded already; a memory is shared by the user whose it is.';
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus.share_memory IS
    'Shows a memory to all users of the app, as shared by p_shared_by (by default p_user_id, and no other from a bound login). Its thread, metadata, links and sources stay private. Only where the app''s policy has sharing; not a summary or what else was made of other memories, which may tell of private ones (HC009). Raises HC011 for an unknown memory, or one that is superseded.';
REVOKE ALL ON FUNCTION hippocampus.share_memory FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.share_memory TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
