-- Whose words a fact of remember_facts holds: the least of what it says of itself (trust), of its author, and of the
-- very events that it was drawn from (sequences).
CREATE OR REPLACE FUNCTION hippocampus._fact_trust(
    p_user_id text,
    p_app_name text,
    p_fact jsonb,
    p_thread_id uuid
) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT coalesce(hippocampus._least_trust(ARRAY(
            SELECT hippocampus._trust(e.author, e.event_type, e.category, e.content) FROM hippocampus.events e
            WHERE p_thread_id IS NOT NULL AND e.thread_id = p_thread_id AND e.user_id = p_user_id AND e.app_name = p_app_name
              AND e.sequence_num = ANY (hippocampus._fact_sequences(p_fact)))
        || (p_fact ->> 'trust')
        || CASE WHEN p_fact ->> 'author' IS NOT NULL THEN hippocampus._trust(p_fact ->> 'author') END), 'user');
END;
COMMENT ON FUNCTION hippocampus._fact_trust IS
    'Whose words a stated fact holds: the least of its trust, its author and its events; the user''s where it names none.';
REVOKE ALL ON FUNCTION hippocampus._fact_trust FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._fact_trust TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
