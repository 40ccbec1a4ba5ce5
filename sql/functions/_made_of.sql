-- Rows, and what was made of them, over any number of steps, also where one of them has faded. It goes with them: see
-- _forget_derived.
CREATE OR REPLACE FUNCTION hippocampus._made_of(
    p_user_id text,
    p_app_name text,
    p_ids uuid[]
) RETURNS SETOF uuid
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 20
BEGIN ATOMIC
    WITH RECURSIVE made AS (
        SELECT p.id FROM unnest(p_ids) AS p (id) WHERE p.id IS NOT NULL
        UNION
        SELECT n.id FROM made d CROSS JOIN LATERAL (
            SELECT m.id FROM hippocampus._derived_from(p_user_id, p_app_name, d.id) AS m (id)
            UNION ALL SELECT f.memory_id FROM hippocampus.faded_sources f
            WHERE f.source_id = d.id AND f.user_id = p_user_id AND f.app_name = p_app_name) n
    )
    SELECT d.id FROM made d;
END;
COMMENT ON FUNCTION hippocampus._made_of IS 'Rows, and the clusters and insights that were made of them.';
REVOKE ALL ON FUNCTION hippocampus._made_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._made_of
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
