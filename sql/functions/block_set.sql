CREATE OR REPLACE FUNCTION hippocampus.block_set(
    p_user_id text,
    p_app_name text,
    p_key text,
    p_value text,
    p_expected_version bigint DEFAULT NULL,
    p_token_limit integer DEFAULT NULL,
    p_token_count integer DEFAULT NULL
) RETURNS hippocampus.memory_blocks
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_size('p_key', p_key, 1, 255);
    PERFORM hippocampus._check_size('p_value', p_value, 0, 1048576);
    -- of two that write a block that is not there yet, the second must find the first one's
    PERFORM pg_advisory_xact_lock(hashtextextended(format('hippocampus.block %L %L %L', p_user_id, p_app_name, p_key), 0));
    RETURN hippocampus._write_block(p_user_id, p_app_name, p_key, p_value, p_expected_version, p_token_limit, p_token_count);
END
$fn$;
COMMENT ON FUNCTION hippocampus.block_set IS
    'Sets a memory block, creating it where there is none, and returns its row. p_expected_version (0 for a block that must not exist) refuses with HC008 when somebody else wrote it; over p_token_limit (2,000 by default) is HC006: by p_token_count where it is given; without it by an estimate, more than 16 bytes for each token of the limit, so that the block may be somewhat over until its next write with a count.';
REVOKE ALL ON FUNCTION hippocampus.block_set FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.block_set TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
