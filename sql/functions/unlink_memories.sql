CREATE OR REPLACE FUNCTION hippocampus.unlink_memories(
    p_user_id text,
    p_app_name text,
    p_from_id uuid,
    p_to_id uuid,
    p_link_type text DEFAULT NULL
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_count integer;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    IF p_link_type IS NOT NULL THEN
        PERFORM hippocampus._check_one_of('p_link_type', p_link_type,
            ARRAY['related_to', 'caused_by', 'follows', 'supports', 'contradicts', 'part_of']);
    END IF;
    DELETE FROM hippocampus.memory_links l
    WHERE l.from_id = p_from_id AND l.to_id = p_to_id AND l.user_id = p_user_id AND l.app_name = p_app_name
      AND l.link_type <> 'derived_from' AND (p_link_type IS NULL OR l.link_type = p_link_type);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$fn$;
COMMENT ON FUNCTION hippocampus.unlink_memories IS
    'Takes links from one memory to another away: of a type, or all where p_link_type is null; but for derived_from, by which forgetting and sharing know what a memory tells of. Returns how many there were.';
REVOKE ALL ON FUNCTION hippocampus.unlink_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.unlink_memories TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
