-- What two statements in nearly the same words must share to say the same: their numbers, and whether they
-- deny. «100 requests a minute» and «1,000 requests a minute» are as near to each other as two texts can be.
CREATE OR REPLACE FUNCTION hippocampus._fact_marks(
    p_text text
) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT ARRAY(SELECT m[1] FROM regexp_matches(normalize(p_text, NFKC), '([0-9]+(?:[.,:/-][0-9]+)*)', 'g') AS m ORDER BY m[1])
        || ((SELECT count(*) FROM regexp_matches(lower(p_text COLLATE "default"),
            '\m(?:not?|never|none|cannot|without|stopped|quit|no longer|dis(?:likes?|liked|agrees?|trusts?)|hate[sd]?|detests?|loathes?)\M'
            '|n[''’]t\M|不|没|沒|别|別|未|讨厌|討厭|嫌い|ない|ません|안 |않|못|싫', 'g')) % 2)::text;
END;
COMMENT ON FUNCTION hippocampus._fact_marks IS
    'The numbers of a statement, and whether it denies: two statements that differ in them are no duplicates, however alike.';
REVOKE ALL ON FUNCTION hippocampus._fact_marks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._fact_marks
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
