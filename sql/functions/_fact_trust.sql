-- Whose words a fact of remember_facts holds: the least of what it says of itself (trust), of its author, and of the
-- very events that it was drawn from (sequences). What an agent says is a tool's where a tool had said it and no person.
-- An operator's event makes it the operator's for a trusted login alone, as it does with memories (_claimed_trust).
CREATE OR REPLACE FUNCTION hippocampus._fact_trust(
    p_user_id text,
    p_app_name text,
    p_fact jsonb,
    p_thread_id uuid,
    p_now timestamptz
) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_trust text := coalesce(hippocampus._least_trust(ARRAY(
            SELECT hippocampus._trust(e.author, e.event_type, e.category, e.content) FROM hippocampus.events e
            WHERE p_thread_id IS NOT NULL AND e.thread_id = p_thread_id AND e.user_id = p_user_id AND e.app_name = p_app_name
              AND e.sequence_num = ANY (hippocampus._fact_sequences(p_fact)))
        || hippocampus._claimed_by(p_fact)), 'user');
BEGIN
    IF v_trust = 'operator' AND hippocampus._claimed_by(p_fact) IS NULL AND NOT hippocampus._is_trusted() THEN
        RETURN 'user';
    END IF;
    RETURN CASE WHEN v_trust = 'agent' AND hippocampus._repeats_tool(p_user_id, p_app_name, p_fact ->> 'value', p_now) THEN 'tool' ELSE v_trust END;
END
$fn$;
COMMENT ON FUNCTION hippocampus._fact_trust IS
    'Whose words a stated fact holds: the least of its trust, its author and its events, the user''s where it names none; a tool''s where an agent repeats them.';
REVOKE ALL ON FUNCTION hippocampus._fact_trust FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._fact_trust TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
