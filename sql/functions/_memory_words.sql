-- What a memory is found by: its content, and for an episode its day as people write it, «8 May 2023», beside
-- Chinese or Japanese text «2023年5月8日» too.
CREATE OR REPLACE FUNCTION hippocampus._memory_words(
    p_memory_type text,
    p_content text,
    p_occurred_from timestamptz
) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT p_content || CASE
        WHEN p_memory_type <> 'episodic' OR NOT isfinite(p_occurred_from) THEN ''
        WHEN p_content ~ '[\u3040-\u30ff\u4e00-\u9fff]'
            THEN to_char(p_occurred_from AT TIME ZONE 'UTC', ' FMDD FMMonth YYYY YYYY"年"FMMM"月"FMDD"日"')
        ELSE to_char(p_occurred_from AT TIME ZONE 'UTC', ' FMDD FMMonth YYYY') END;
END;
COMMENT ON FUNCTION hippocampus._memory_words IS 'The words that a memory is found by: its content and, for an episode, its day (UTC).';
REVOKE ALL ON FUNCTION hippocampus._memory_words FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._memory_words TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
