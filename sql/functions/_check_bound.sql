-- Refuses a write for a scope to which the transaction of a bound role is not set. The policies would hide every row of
-- it: what inserts would fail without a word of what to do, and what deletes, a whole user too, would seem to have done it.
CREATE OR REPLACE FUNCTION hippocampus._check_bound(
    p_user_id text,
    p_app_name text
) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF (p_user_id, p_app_name) IS DISTINCT FROM (current_setting('hippocampus.user_id', true), current_setting('hippocampus.app_name', true))
        AND row_security_active('hippocampus.threads')
        AND NOT pg_has_role('hippocampus_service', 'USAGE') AND NOT pg_has_role('hippocampus_owner', 'USAGE') THEN
        RAISE EXCEPTION 'the transaction is not bound to the user % of the app %', quote_literal(p_user_id), quote_literal(p_app_name)
            USING ERRCODE = '42501', HINT = 'A bound login writes the memory of one user and app: set hippocampus.user_id and '
                || 'hippocampus.app_name in its transaction, by set_config(…, true), to those that it writes for.';
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_bound IS
    'Raises 42501 where the role sees one scope only, and the transaction is set to none or another.';
REVOKE ALL ON FUNCTION hippocampus._check_bound FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_bound TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
