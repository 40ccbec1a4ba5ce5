CREATE OR REPLACE FUNCTION hippocampus.block_append(
    p_user_id text,
    p_app_name text,
    p_key text,
    p_text text,
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
    PERFORM hippocampus._check_size('p_key', p_key, 1, 255);
    PERFORM hippocampus._check_size('p_text', p_text, 0, 1048576);
    -- two that append to a block that is not there yet must not lose one of the texts
    PERFORM pg_advisory_xact_lock(hashtextextended(format('hippocampus.block %L %L %L', p_user_id, p_app_name, p_key), 0));
    SELECT b.value INTO v_value FROM hippocampus.memory_blocks b
    WHERE b.user_id = p_user_id AND b.app_name = p_app_name AND b.key = p_key FOR UPDATE;
    RETURN hippocampus._write_block(p_user_id, p_app_name, p_key,
        CASE WHEN coalesce(v_value, '') = '' THEN p_text ELSE v_value || E'\n' || p_text END,
        p_expected_version, NULL, p_token_count);
END
$fn$;
COMMENT ON FUNCTION hippocampus.block_append IS
    'Adds a line to a memory block, creating it where there is none, and returns its row. p_token_count is of the whole value after it.';
REVOKE ALL ON FUNCTION hippocampus.block_append FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.block_append TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
