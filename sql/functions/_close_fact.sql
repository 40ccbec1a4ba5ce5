-- Retires a current fact: another one holds from p_at on. Never before it began.
CREATE OR REPLACE FUNCTION hippocampus._close_fact(
    p_user_id text,
    p_app_name text,
    p_id uuid,
    p_by_id uuid,
    p_at timestamptz,
    p_closed_by text,
    p_reason text,
    p_now timestamptz
) RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
BEGIN ATOMIC
    UPDATE hippocampus.facts f
    SET valid_until = greatest(f.valid_from, p_at), closed_at = greatest(p_now, f.recorded_at), superseded_by = p_by_id,
        closed_by = left(p_closed_by, 60), closed_reason = left(p_reason, 1000)
    WHERE f.id = p_id AND f.user_id = p_user_id AND f.app_name = p_app_name AND f.valid_until IS NULL;
END;
COMMENT ON FUNCTION hippocampus._close_fact IS 'Retires a current fact in favour of another.';
REVOKE ALL ON FUNCTION hippocampus._close_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._close_fact TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
