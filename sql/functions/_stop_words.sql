-- The words that are stop words of any language that Postgres has a list of: no anchor is made of one alone,
-- whatever the language of the app's own configuration.
CREATE OR REPLACE FUNCTION hippocampus._stop_words(
    p_words text[]
) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 100
BEGIN ATOMIC
    SELECT w.word FROM unnest(p_words) AS w (word)
    WHERE EXISTS (
        SELECT FROM pg_catalog.pg_ts_dict d
        WHERE d.dictnamespace = 'pg_catalog'::regnamespace AND d.dictinitoption LIKE '%stopwords%'
          AND ts_lexize(d.oid::regdictionary, w.word) = '{}');
END;
COMMENT ON FUNCTION hippocampus._stop_words IS 'Those of some words that are stop words of any language that Postgres knows.';
REVOKE ALL ON FUNCTION hippocampus._stop_words FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._stop_words
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
