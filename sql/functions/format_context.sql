-- The included entries of a window as one text for a prompt. An aggregate would be nicer to call; an array
-- keeps it a plain function: format_context(ARRAY(SELECT w FROM get_context_window(…) w)).
CREATE OR REPLACE FUNCTION hippocampus.format_context(
    p_entries hippocampus.context_entries[],
    p_language text DEFAULT 'en'
) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_one_of('p_language', p_language, ARRAY['en', 'zh']);
    RETURN (
        SELECT coalesce(string_agg(s.section, E'\n\n' ORDER BY s.ordinal), '')
        FROM (
            SELECT w.ordinal, concat_ws(E'\n', nullif(w.heading, ''), nullif(w.opening, ''),
                string_agg(e.content, E'\n' ORDER BY e.position), nullif(w.closing, '')) AS section
            FROM unnest(p_entries) AS e
            JOIN hippocampus._context_words(p_language) w ON w.context_type = e.context_type
            WHERE e.included
            GROUP BY w.ordinal, w.heading, w.opening, w.closing
        ) s);
END
$fn$;
COMMENT ON FUNCTION hippocampus.format_context IS
    'Prints the included entries of get_context_window as one text: sections under headings in English (en) or Chinese (zh), recalled memories fenced as data. Its tokens are never more than the sum of token_estimate. SELECT hippocampus.format_context(ARRAY(SELECT w FROM hippocampus.get_context_window(…) w)).';
REVOKE ALL ON FUNCTION hippocampus.format_context FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.format_context
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
