-- What a turn of a conversation is worth as an answer by its form alone, 0 to 1: one that is short says less (all
-- counts from 150 bytes on, which is as much in any script), one that only asks answers less. The weights are
-- those of the setting evidence.
CREATE OR REPLACE FUNCTION hippocampus._turn_worth(
    p_content text,
    p_length double precision,
    p_question double precision
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT (1 - p_length * (1 - least(1, octet_length(p_content) / 150.0::double precision)))
        * CASE WHEN hippocampus._only_asks(p_content) THEN 1 - p_question ELSE 1 END;
END;
COMMENT ON FUNCTION hippocampus._turn_worth IS 'What a turn is worth as an answer by its form: less when it is short, less when it only asks.';
REVOKE ALL ON FUNCTION hippocampus._turn_worth FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._turn_worth
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
