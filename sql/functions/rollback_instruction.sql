-- Brings back an earlier version of an instruction, as a new version with its words: no version is ever rewritten.
-- Without a version it takes one step back from what holds now, and from version 1 to none: the instruction is
-- withdrawn, until somebody writes it again or brings a version back.
CREATE OR REPLACE FUNCTION hippocampus.rollback_instruction(
    p_app_name text,
    p_instruction_key text,
    p_version integer DEFAULT NULL
) RETURNS SETOF hippocampus.instructions
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_current hippocampus.instructions;
    v_wanted hippocampus.instructions;
    v_to integer;
BEGIN
    PERFORM hippocampus._check_app(p_app_name);
    PERFORM hippocampus._check_size('p_instruction_key', p_instruction_key, 1, 255);
    PERFORM pg_advisory_xact_lock(hashtextextended(
        format('hippocampus.instruction %L %L', p_app_name, p_instruction_key), 0));
    SELECT i.* INTO v_current FROM hippocampus.instructions i
    WHERE i.app_name = p_app_name AND i.instruction_key = p_instruction_key ORDER BY i.version DESC LIMIT 1;
    v_to := coalesce(p_version, greatest(0, coalesce(v_current.restores, v_current.version) - 1));
    SELECT i.* INTO v_wanted FROM hippocampus.instructions i
    WHERE i.app_name = p_app_name AND i.instruction_key = p_instruction_key AND i.version = v_to;
    IF v_current.version IS NULL THEN
        RAISE EXCEPTION 'instruction % is unknown', quote_literal(p_instruction_key)
            USING ERRCODE = 'HC011', HINT = 'Give a key that hippocampus.instructions lists for the app.';
    ELSIF v_to <> 0 AND v_wanted.version IS NULL THEN
        RAISE EXCEPTION 'instruction % has no version %', quote_literal(p_instruction_key), v_to
            USING ERRCODE = 'HC011', HINT = 'Give a version that hippocampus.instructions lists, or 0 to withdraw it.';
    END IF;
    -- a version that itself brought one back, or withdrew it, stands for that one
    v_to := coalesce(v_wanted.restores, v_to);
    RETURN QUERY
    INSERT INTO hippocampus.instructions AS n (version, restores, token_count, token_count_exact, app_name, instruction_key, content, metadata)
    SELECT v_current.version + 1, v_to, s.token_count, s.token_count_exact, p_app_name, p_instruction_key, s.content, s.metadata
    FROM (SELECT 5, false, '(withdrawn)', '{}'::jsonb WHERE v_to = 0
          UNION ALL SELECT o.token_count, o.token_count_exact, o.content, o.metadata FROM hippocampus.instructions o
          WHERE o.app_name = p_app_name AND o.instruction_key = p_instruction_key AND o.version = v_to
    ) AS s (token_count, token_count_exact, content, metadata)
    RETURNING n.*;
END
$fn$;
COMMENT ON FUNCTION hippocampus.rollback_instruction IS
    'Brings back a version of an instruction, by default the one before, as a new version with its words, and returns it. Version 0 withdraws the instruction: no window shows it. Every version stays.';
REVOKE ALL ON FUNCTION hippocampus.rollback_instruction FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.rollback_instruction TO hippocampus_service, hippocampus_worker;
