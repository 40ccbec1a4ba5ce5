CREATE OR REPLACE FUNCTION hippocampus.link_memories(
    p_user_id text,
    p_app_name text,
    p_from_id uuid,
    p_to_id uuid,
    p_link_type text DEFAULT 'related_to',
    p_weight double precision DEFAULT 1
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_unknown uuid;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_one_of('p_link_type', p_link_type,
        ARRAY['related_to', 'caused_by', 'follows', 'supports', 'contradicts', 'part_of', 'derived_from']);
    PERFORM hippocampus._check_range('p_weight', p_weight, 0, 1);
    IF p_from_id = p_to_id THEN
        RAISE EXCEPTION 'memory % cannot be linked with itself', p_from_id USING ERRCODE = 'HC009', HINT = 'Give two memories.';
    END IF;
    WITH held AS ( -- one that is being forgotten is waited for, and is unknown then
        SELECT m.id FROM hippocampus.memories m
        WHERE m.id IN (p_from_id, p_to_id) AND m.user_id = p_user_id AND m.app_name = p_app_name
        ORDER BY m.id FOR KEY SHARE
    )
    SELECT i.id INTO v_unknown FROM unnest(ARRAY[p_from_id, p_to_id]) AS i (id)
    WHERE NOT EXISTS (SELECT FROM held h WHERE h.id = i.id);
    IF FOUND THEN
        RAISE EXCEPTION 'memory % is unknown', coalesce(v_unknown::text, 'null')
            USING ERRCODE = 'HC011', HINT = 'It may be forgotten already; both must be of the same user and app.';
    END IF;
    INSERT INTO hippocampus.memory_links (weight, from_id, to_id, user_id, app_name, link_type)
    VALUES (p_weight, p_from_id, p_to_id, p_user_id, p_app_name, p_link_type)
    ON CONFLICT (from_id, to_id, link_type, user_id, app_name) DO UPDATE SET weight = excluded.weight;
END
$fn$;
COMMENT ON FUNCTION hippocampus.link_memories IS
    'Links a memory to another: related_to, caused_by, follows, supports, contradicts, part_of or derived_from, with a weight from 0 to 1; again, it sets the weight. Cycles are allowed. What is derived_from a memory is forgotten with it, is no longer shared, and stays where that just fades. Raises HC011 for an unknown memory.';
REVOKE ALL ON FUNCTION hippocampus.link_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.link_memories TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
