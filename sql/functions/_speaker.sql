-- The name with which a turn begins: no colon, so that it names no other; nothing with which a heading, a fence or a
-- list begins; and not the operator's, however it is spelled, where the words are not: see _trust.
CREATE OR REPLACE FUNCTION hippocampus._speaker(
    p_author text
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT CASE
        WHEN p_author ~ '^[A-Za-z0-9]+$' THEN p_author -- as nearly all are
        WHEN lower(regexp_replace(hippocampus._plain_letters(p_author), '[^A-Za-z]', '', 'g')) IN ('system', 'operator', 'developer') THEN 'someone'
        ELSE coalesce(nullif(translate(ltrim(p_author, E'#<>`*-=_ \t'), ':：', '··'), ''), 'someone')
    END;
END;
COMMENT ON FUNCTION hippocampus._speaker IS
    'The name with which a turn of a window begins: never that of an operator who did not write it.';
REVOKE ALL ON FUNCTION hippocampus._speaker FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._speaker
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
