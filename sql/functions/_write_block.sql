-- What the three writers of a block share: limit, version, and the row. They hold the block: its row, or
-- the lock of its name where it may not be there yet.
CREATE OR REPLACE FUNCTION hippocampus._write_block(
    p_user_id text,
    p_app_name text,
    p_key text,
    p_value text,
    p_expected_version bigint,
    p_token_limit integer,
    p_token_count integer
) RETURNS hippocampus.memory_blocks
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_block hippocampus.memory_blocks;
    v_tokens integer;
    v_limit integer;
BEGIN
    PERFORM hippocampus._check_range('p_token_count', coalesce(p_token_count, 0), 0, 2147483647);
    v_tokens := coalesce(p_token_count, hippocampus.estimate_tokens(p_value));
    SELECT b.* INTO v_block FROM hippocampus.memory_blocks b
    WHERE b.user_id = p_user_id AND b.app_name = p_app_name AND b.key = p_key FOR UPDATE;
    IF p_expected_version IS NOT NULL AND coalesce(v_block.version, 0) <> p_expected_version THEN
        RAISE EXCEPTION 'block % is at version %, not %', quote_literal(p_key), coalesce(v_block.version, 0), p_expected_version
            USING ERRCODE = 'HC008', HINT = 'Somebody else wrote it; read it again and retry.';
    END IF;
    v_limit := coalesce(p_token_limit, v_block.token_limit, 2000);
    PERFORM hippocampus._check_range('p_token_limit', v_limit, 1, 200000);
    -- an estimate is an upper bound, several times the truth: only an exact count may be refused by the limit
    IF p_token_count IS NOT NULL AND v_tokens > v_limit OR octet_length(p_value) > v_limit * 16 THEN
        RAISE EXCEPTION 'block % would hold % tokens, its limit is %', quote_literal(p_key), v_tokens, v_limit
            USING ERRCODE = 'HC006', HINT = 'Shorten it, or raise p_token_limit.';
    ELSIF octet_length(p_value) > 1048576 THEN
        RAISE EXCEPTION 'block % would be % bytes long', quote_literal(p_key), octet_length(p_value)
            USING ERRCODE = 'HC006', HINT = 'Give at most 1048576 bytes; store larger content elsewhere and refer to it.';
    END IF;
    INSERT INTO hippocampus.memory_blocks AS b (token_limit, token_count, token_count_exact, user_id, app_name, key, value)
    VALUES (v_limit, v_tokens, p_token_count IS NOT NULL, p_user_id, p_app_name, p_key, p_value)
    ON CONFLICT (user_id, app_name, key) DO UPDATE SET
        value = excluded.value, token_limit = excluded.token_limit, token_count = excluded.token_count,
        token_count_exact = excluded.token_count_exact, version = b.version + 1, updated_at = now()
    RETURNING b.* INTO v_block;
    RETURN v_block;
END
$fn$;
COMMENT ON FUNCTION hippocampus._write_block IS 'Writes a block under its limit and version.';
REVOKE ALL ON FUNCTION hippocampus._write_block FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._write_block TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
