-- What an anchor is known by: its words, at most five. Null for what can be none: no word but stop words, more than
-- five of them, one character alone.
CREATE OR REPLACE FUNCTION hippocampus._anchor_key(
    p_term text,
    p_config regconfig
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT SECURITY INVOKER
BEGIN ATOMIC
    SELECT CASE WHEN cardinality(w.words) BETWEEN 1 AND 5 AND char_length(w.words[1] || coalesce(w.words[2], '')) > 1
                 AND octet_length(array_to_string(w.words, ' ')) <= 255
            THEN array_to_string(w.words, ' ') END
    FROM (SELECT hippocampus._anchor_words(p_term, p_config) AS words OFFSET 0) w; -- once, not where it is named
END;
COMMENT ON FUNCTION hippocampus._anchor_key IS
    'What an anchor is known by: the dictionary forms of its words; null for what can be no anchor.';
REVOKE ALL ON FUNCTION hippocampus._anchor_key FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._anchor_key
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
