-- A new version of an app's instruction. Two writers of a key follow each other.
CREATE OR REPLACE FUNCTION hippocampus.put_instruction(
    p_app_name text,
    p_instruction_key text,
    p_content text,
    p_metadata jsonb DEFAULT '{}',
    p_token_count integer DEFAULT NULL
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_version integer;
    v_metadata jsonb;
BEGIN
    PERFORM hippocampus._check_app(p_app_name);
    PERFORM hippocampus._check_size('p_instruction_key', p_instruction_key, 1, 255);
    PERFORM hippocampus._check_size('p_content', p_content, 1, 1048576);
    PERFORM hippocampus._check_range('p_token_count', coalesce(p_token_count, 0), 0, 2147483647);
    v_metadata := hippocampus._check_object('p_metadata', p_metadata, 262144);
    PERFORM pg_advisory_xact_lock(hashtextextended(
        format('hippocampus.instruction %L %L', p_app_name, p_instruction_key), 0));
    INSERT INTO hippocampus.instructions (version, token_count, token_count_exact, app_name, instruction_key, content, metadata)
    SELECT coalesce(max(i.version), 0) + 1, coalesce(p_token_count, hippocampus.estimate_tokens(p_content)),
        p_token_count IS NOT NULL, p_app_name, p_instruction_key, p_content, v_metadata
    FROM hippocampus.instructions i
    WHERE i.app_name = p_app_name AND i.instruction_key = p_instruction_key
    RETURNING version INTO v_version;
    RETURN v_version;
END
$fn$;
COMMENT ON FUNCTION hippocampus.put_instruction IS
    'Writes a new version of an app''s instruction and returns its number; older versions stay.';
REVOKE ALL ON FUNCTION hippocampus.put_instruction FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.put_instruction TO hippocampus_service, hippocampus_worker;
