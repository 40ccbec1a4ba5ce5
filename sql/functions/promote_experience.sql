-- Makes an experience a new version of an instruction of the app, in its own words or in those that a person
-- gives. Words of a tool, or an agent's that repeat them, are never an instruction: a person must say it in their own.
-- Its own words go with it when it is forgotten (see _forget_instruction); an experience becomes an instruction once, and
-- fades no more (_pinned). A sweep that is about to take its memory is waited for.
CREATE OR REPLACE FUNCTION hippocampus.promote_experience(
    p_user_id text,
    p_app_name text,
    p_memory_id uuid,
    p_instruction_key text DEFAULT NULL,
    p_content text DEFAULT NULL
) RETURNS SETOF hippocampus.instructions
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_experience hippocampus.experiences;
    v_key text;
    v_version integer;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM FROM hippocampus.memories m
    WHERE m.id = p_memory_id AND m.user_id = p_user_id AND m.app_name = p_app_name FOR KEY SHARE;
    SELECT e.* INTO v_experience FROM hippocampus.experiences e
    WHERE e.memory_id = p_memory_id AND e.user_id = p_user_id AND e.app_name = p_app_name FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'experience % is unknown', coalesce(p_memory_id::text, 'null')
            USING ERRCODE = 'HC011', HINT = 'Give a memory_id of experiences.';
    ELSIF v_experience.instruction_key IS NOT NULL THEN
        RAISE EXCEPTION 'experience % is an instruction already: % version %', p_memory_id,
                v_experience.instruction_key, v_experience.instruction_version
            USING ERRCODE = 'HC009', HINT = 'Bring a version back with rollback_instruction, or write one with put_instruction.';
    END IF;
    IF p_content IS NULL AND hippocampus._experience_trust(p_user_id, p_app_name, p_memory_id) = 'tool' THEN
        RAISE EXCEPTION 'experience % holds the words of a tool', p_memory_id
            USING ERRCODE = 'HC009', HINT = 'Say what to do in your own words: p_content.';
    ELSIF p_content IS NULL AND v_experience.insight IS NULL THEN
        RAISE EXCEPTION 'experience % has no insight', p_memory_id
            USING ERRCODE = 'HC009', HINT = 'Say what to do: p_content.';
    END IF;
    -- the same task done in another way is the next version
    v_key := coalesce(p_instruction_key, 'learned/' || left(encode(hippocampus._content_hash(v_experience.task), 'hex'), 12));
    v_version := hippocampus.put_instruction(p_app_name, v_key, coalesce(p_content, v_experience.task || E'\n' || v_experience.insight),
        jsonb_build_object('source', CASE WHEN p_content IS NULL THEN 'experience' ELSE 'operator' END));
    UPDATE hippocampus.experiences e SET instruction_key = v_key, instruction_version = v_version
    WHERE e.memory_id = p_memory_id AND e.user_id = p_user_id AND e.app_name = p_app_name;
    RETURN QUERY SELECT i.* FROM hippocampus.instructions i
    WHERE i.app_name = p_app_name AND i.instruction_key = v_key AND i.version = v_version;
END
$fn$;
COMMENT ON FUNCTION hippocampus.promote_experience IS
    'Makes an experience a new version of an instruction, which all users of the app see in their windows: its task and insight, or p_content. The key is by default learned/ and a hash of the task. Refuses (HC009) the words of a tool, also those that an agent repeats, and an experience that is an instruction already. For the service and the worker only.';
REVOKE ALL ON FUNCTION hippocampus.promote_experience FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.promote_experience TO hippocampus_service, hippocampus_worker;
