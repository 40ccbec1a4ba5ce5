-- Refuses an origin of a memory or a fact that cannot be: a thread that is not there, events or times that
-- run backwards.
CREATE OR REPLACE FUNCTION hippocampus._check_origin(
    p_user_id text,
    p_app_name text,
    p_thread_id uuid,
    p_from_seq bigint DEFAULT NULL,
    p_to_seq bigint DEFAULT NULL,
    p_occurred_from timestamptz DEFAULT NULL,
    p_occurred_until timestamptz DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_thread(p_user_id, p_app_name, p_thread_id);
    IF p_from_seq < 1 OR p_to_seq > 16777215 OR p_from_seq > 16777215 OR p_to_seq < coalesce(p_from_seq, 9223372036854775807) THEN
        RAISE EXCEPTION 'p_from_seq is % and p_to_seq is %', coalesce(p_from_seq::text, 'null'), coalesce(p_to_seq::text, 'null')
            USING ERRCODE = 'HC009', HINT = 'Give the first and the last event of a range, counted from 1, at most 16777215.';
    END IF;
    IF p_occurred_from > p_occurred_until OR NOT isfinite(p_occurred_from) OR NOT isfinite(p_occurred_until) THEN
        RAISE EXCEPTION 'p_occurred_from is % and p_occurred_until is %',
                coalesce(p_occurred_from::text, 'null'), coalesce(p_occurred_until::text, 'null')
            USING ERRCODE = 'HC009', HINT = 'Give the earlier time first; neither may be infinite.';
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_origin IS
    'Raises HC002 for an unknown thread, HC009 where events or times run backwards.';
REVOKE ALL ON FUNCTION hippocampus._check_origin FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_origin TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
