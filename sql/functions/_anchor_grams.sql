-- The anchors that a question may name: each run of one to five of its words, and of a script without spaces each
-- run of two to eight characters.
CREATE OR REPLACE FUNCTION hippocampus._anchor_grams(
    p_query text,
    p_config regconfig
) RETURNS TABLE (key text)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER ROWS 40
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_words text[] := (hippocampus._anchor_words(left(coalesce(p_query, ''), 4000), p_config))[1:500];
BEGIN
    RETURN QUERY
    SELECT array_to_string(v_words[s.at:s.at + n.more], ' ')
    FROM generate_subscripts(v_words, 1) AS s (at) CROSS JOIN generate_series(0, 4) AS n (more)
    WHERE s.at + n.more <= cardinality(v_words)
    UNION
    SELECT substr(w.word, s.at, n.length)
    FROM unnest(v_words) AS w (word) CROSS JOIN generate_series(2, 8) AS n (length)
    CROSS JOIN LATERAL generate_series(1, char_length(w.word) - n.length + 1) AS s (at)
    WHERE w.word ~ '^[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\U0003ffff]' AND w.word !~ '^[\ua000-\uf8ff]';
END
$fn$;
COMMENT ON FUNCTION hippocampus._anchor_grams IS
    'The keys of all anchors that a question may name.';
REVOKE ALL ON FUNCTION hippocampus._anchor_grams FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._anchor_grams
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
