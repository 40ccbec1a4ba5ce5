-- The time that a question asks about, and how much of the weight of time it has as evidence: all, where it names a day or a
-- week; a fifth, where it tells one by an event of the user's own memory, as half of all memories lie on the same
-- side of that. No row where it asks about none, or about a longer time: of a month people tell long after it.
CREATE OR REPLACE FUNCTION hippocampus._asked_time(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_now timestamptz
) RETURNS TABLE (during tstzrange, share double precision)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    during := hippocampus.resolve_time(p_query, p_now);
    share := 1;
    IF during IS NULL THEN
        during := hippocampus._event_time(p_user_id, p_app_name, p_query);
        share := 0.2;
    ELSIF upper(during) - lower(during) > interval '10 days' THEN
        during := NULL;
    END IF;
    IF during IS NOT NULL THEN
        RETURN NEXT;
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._asked_time IS
    'The time that a question asks about, by the calendar or by an event of the user''s memory, and which share of the weight of time it has; no row for none.';
REVOKE ALL ON FUNCTION hippocampus._asked_time FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._asked_time
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
