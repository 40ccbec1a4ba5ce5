-- What a new fact supersedes ends where that one begins. Learned late about an earlier time, it is the new one
-- that has ended, where the first of those that followed began. A guess never held, and retires nothing: of it, and
-- of what has its own key, _state_fact has said so already, and the reason is all that is left to say.
CREATE OR REPLACE FUNCTION hippocampus._retire_facts(
    p_user_id text,
    p_app_name text,
    p_new_id uuid,
    p_retired jsonb[],
    p_now timestamptz
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_new hippocampus.facts;
    v_old record;
BEGIN
    SELECT f.* INTO v_new FROM hippocampus.facts f
    WHERE f.id = p_new_id AND f.user_id = p_user_id AND f.app_name = p_app_name;
    FOR v_old IN
        SELECT f.*, coalesce(r ->> 'decided_by', 'key') AS decided_by, r ->> 'reason' AS reason
        FROM unnest(p_retired) r
        JOIN hippocampus.facts f ON f.id = (r ->> 'id')::uuid AND f.user_id = p_user_id AND f.app_name = p_app_name
        ORDER BY f.valid_from, f.id FOR KEY SHARE OF f
    LOOP
        IF v_new.valid_until = v_new.valid_from OR v_old.fact_type = v_new.fact_type AND v_old.key = v_new.key THEN
            UPDATE hippocampus.facts f SET closed_by = left(v_old.decided_by, 60), closed_reason = left(v_old.reason, 1000)
            WHERE f.id IN (v_old.id, v_new.id) AND f.superseded_by IN (v_old.id, v_new.id) AND f.closed_at IS NOT NULL
              AND f.user_id = p_user_id AND f.app_name = p_app_name;
        ELSIF v_new.valid_from < v_old.valid_from THEN
            PERFORM hippocampus._close_fact(p_user_id, p_app_name, v_new.id, v_old.id, v_old.valid_from, v_old.decided_by, v_old.reason, p_now);
        ELSE
            PERFORM hippocampus._close_fact(p_user_id, p_app_name, v_old.id, v_new.id, v_new.valid_from, v_old.decided_by, v_old.reason, p_now);
        END IF;
    END LOOP;
END
$fn$;
COMMENT ON FUNCTION hippocampus._retire_facts IS 'Ends the facts that a new one supersedes, or the new one where it began earlier.';
REVOKE ALL ON FUNCTION hippocampus._retire_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._retire_facts TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
