-- The events of short-term memory that no episode tells yet, as recollections: an event and the memory made
-- from it count once. Planned for any tenant: of one that is new, a planner may expect no row, and read all that it has.
CREATE OR REPLACE FUNCTION hippocampus._short_term(
    p_user_id text,
    p_app_name text,
    p_thread_id uuid,
    p_now timestamptz
) RETURNS SETOF hippocampus.recollections
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 50
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $fn$
BEGIN
    RETURN QUERY
    SELECT 'short', e.id, e.category, NULL::text, e.text, 0::double precision,
        hippocampus._effective_importance(e.importance, coalesce(u.access_count, 0)),
        e.tags, e.metadata, e.author, e.event_type, e.thread_id, e.sequence_num, e.sequence_num, e.created_at,
        coalesce(u.last_accessed_at, e.created_at), coalesce(u.access_count, 0), NULL::text,
        hippocampus._trust(e.author, e.event_type, e.category, e.content)
    FROM hippocampus.short_term_memory(p_user_id, p_app_name, p_thread_id, false, p_now) e
    LEFT JOIN hippocampus.event_uses u ON u.thread_id = e.thread_id AND u.sequence_num = e.sequence_num
        AND u.user_id = p_user_id AND u.app_name = p_app_name
    WHERE NOT EXISTS (SELECT FROM hippocampus._episode_at(p_user_id, p_app_name, e.thread_id, e.sequence_num));
END
$fn$;
COMMENT ON FUNCTION hippocampus._short_term IS 'The events of short-term memory that no episode tells yet.';
REVOKE ALL ON FUNCTION hippocampus._short_term FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._short_term
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
