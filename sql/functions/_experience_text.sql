-- How an experience reads, to a search and in a prompt: the task, what it taught, and how it was done.
CREATE OR REPLACE FUNCTION hippocampus._experience_text(
    p_task text,
    p_insight text,
    p_trajectory jsonb
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT concat_ws(E'\n', p_task, p_insight, (
        SELECT string_agg(s.place || '. ' || s.text, E'\n' ORDER BY s.place) FROM (
            SELECT a.place, coalesce(nullif(hippocampus._event_text(a.step), ''), a.step ->> 'action', a.step::text) AS text
            FROM jsonb_array_elements(p_trajectory) WITH ORDINALITY AS a (step, place)) s));
END;
COMMENT ON FUNCTION hippocampus._experience_text IS 'How an experience reads: task, insight and numbered steps, a line each.';
REVOKE ALL ON FUNCTION hippocampus._experience_text FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._experience_text TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
