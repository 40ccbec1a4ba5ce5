-- Memories and facts, and what tells the very same of earlier times: the memories that they superseded, and the same
-- value of a fact in its history.
CREATE OR REPLACE FUNCTION hippocampus._same_rows(
    p_user_id text,
    p_app_name text,
    p_ids uuid[]
) RETURNS SETOF uuid
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 20
BEGIN ATOMIC
    WITH RECURSIVE older AS (
        SELECT m.id FROM hippocampus.memories m
        WHERE m.id = ANY (p_ids) AND m.user_id = p_user_id AND m.app_name = p_app_name
        UNION SELECT m.id FROM older o
        JOIN hippocampus.memories m ON m.superseded_by = o.id AND m.user_id = p_user_id AND m.app_name = p_app_name
    )
    SELECT o.id FROM older o
    UNION SELECT t.id FROM hippocampus.facts f
    JOIN hippocampus.facts t ON t.user_id = f.user_id AND t.app_name = f.app_name AND t.fact_type = f.fact_type
        AND t.key = f.key AND t.value = f.value
    WHERE f.id = ANY (p_ids) AND f.user_id = p_user_id AND f.app_name = p_app_name;
END;
COMMENT ON FUNCTION hippocampus._same_rows IS 'Memories with those that they superseded, and facts with the same value in their history.';
REVOKE ALL ON FUNCTION hippocampus._same_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._same_rows
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
