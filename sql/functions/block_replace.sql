CREATE OR REPLACE FUNCTION hippocampus.block_replace(
    p_user_id text,
    p_app_name text,
    p_key text,
    p_old_text text,
    p_new_text text,
    p_expected_version bigint DEFAULT NULL,
    p_token_count integer DEFAULT NULL
) RETURNS hippocampus.memory_blocks
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_value text;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_size('p_old_text', p_old_text, 1, 1048576);
    PERFORM hippocampus._check_size('p_new_text', p_new_text, 0, 1048576);
    SELECT b.value INTO v_value FROM hippocampus.memory_blocks b
    WHERE b.user_id = p_user_id AND b.app_name = p_app_name AND b.key = p_key FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'block % does not exist', coalesce(quote_literal(p_key), 'null')
            USING ERRCODE = 'HC011', HINT = 'Create it with block_set or block_append.';
    END IF;
    v_value := CASE WHEN position(p_old_text IN v_value) > 0 THEN replace(v_value, p_old_text, p_new_text)
        ELSE hippocampus._replace_shown(v_value, p_old_text, p_new_text) END;
    IF v_value IS NULL THEN
        RAISE EXCEPTION 'block % does not contain %', quote_literal(p_key), quote_literal(left(p_old_text, 100))
            USING ERRCODE = 'HC012', HINT = 'Read the block again; the text must match to the letter.';
    END IF;
    RETURN hippocampus._write_block(p_user_id, p_app_name, p_key, v_value, p_expected_version, NULL, p_token_count);
END
$fn$;
COMMENT ON FUNCTION hippocampus.block_replace IS
    'Replaces every match of a text in a memory block, to the letter or, where none is there, as a prompt shows it, and returns its row. Raises HC011 where there is no such block, HC012 where the text does not stand in it.';
REVOKE ALL ON FUNCTION hippocampus.block_replace FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.block_replace TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
