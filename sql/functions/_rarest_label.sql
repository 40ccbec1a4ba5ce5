-- The label that the fewest memories of a user have, of those that all must hold: where a search begins. What is
-- on more than 1,000 memories is not counted further.
CREATE OR REPLACE FUNCTION hippocampus._rarest_label(
    p_user_id text,
    p_app_name text,
    p_tags text[],
    p_context jsonb
) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT w.label
    FROM hippocampus._labels(p_tags, p_context) AS w (label)
    CROSS JOIN LATERAL (
        SELECT count(*) AS memories FROM (
            SELECT FROM hippocampus.memory_labels l
            WHERE l.user_id = p_user_id AND l.app_name = p_app_name AND l.label = w.label LIMIT 1000) f) c
    ORDER BY c.memories, w.label
    LIMIT 1;
END;
COMMENT ON FUNCTION hippocampus._rarest_label IS 'Of the labels of tags and context, the one on the fewest memories; null where there are none.';
REVOKE ALL ON FUNCTION hippocampus._rarest_label FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._rarest_label
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
