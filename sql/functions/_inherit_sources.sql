-- Of memories that are about to fade, what was made of them takes over what they tell of: the events that they told
-- (faded_sources), and what is still there of what they were made of (links). Where one of them was made of another,
-- what stays has it from both. The members of a cluster that fades are told that they were in one.
CREATE OR REPLACE FUNCTION hippocampus._inherit_sources(
    p_ids uuid[],
    p_user_ids text[],
    p_app_names text[]
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET enable_hashjoin = off -- or many rows that go would have all rows of all users read
SET enable_mergejoin = off
AS $fn$
BEGIN
    WITH RECURSIVE going AS MATERIALIZED (
        SELECT g.id, g.user_id, g.app_name FROM unnest(p_ids, p_user_ids, p_app_names) AS g (id, user_id, app_name)
    ), made (memory_id, source_id, user_id, app_name) AS (
        SELECT d.id, g.id, g.user_id, g.app_name FROM going g
        CROSS JOIN LATERAL hippocampus._derived_from(g.user_id, g.app_name, g.id) AS d (id)
        UNION
        SELECT d.id, m.source_id, m.user_id, m.app_name FROM made m
        JOIN going g ON g.id = m.memory_id AND g.user_id = m.user_id AND g.app_name = m.app_name
        CROSS JOIN LATERAL hippocampus._derived_from(g.user_id, g.app_name, g.id) AS d (id)
    ), heirs AS MATERIALIZED (
        SELECT m.* FROM made m
        WHERE NOT EXISTS (SELECT FROM going g WHERE g.id = m.memory_id AND g.user_id = m.user_id AND g.app_name = m.app_name)
    ), linked AS (
        INSERT INTO hippocampus.memory_links (from_id, to_id, user_id, app_name, link_type, source)
        SELECT DISTINCT h.memory_id, s.id, h.user_id, h.app_name, 'derived_from', 'retention' FROM heirs h
        CROSS JOIN LATERAL hippocampus._sources_of(h.user_id, h.app_name, h.source_id) AS s (id)
        WHERE s.id <> h.memory_id AND NOT EXISTS (
            SELECT FROM going g WHERE g.id = s.id AND g.user_id = h.user_id AND g.app_name = h.app_name)
        ON CONFLICT (from_id, to_id, link_type, user_id, app_name) DO NOTHING
    ), spent AS (
        INSERT INTO hippocampus.memory_roles (was_clustered, memory_id, user_id, app_name)
        SELECT DISTINCT true, c.memory_id, c.user_id, c.app_name FROM going g
        JOIN hippocampus.memory_cluster_members c ON c.cluster_id = g.id AND c.user_id = g.user_id AND c.app_name = g.app_name
        WHERE NOT EXISTS (SELECT FROM going o WHERE o.id = c.memory_id AND o.user_id = c.user_id AND o.app_name = c.app_name)
        ON CONFLICT (memory_id, user_id, app_name) DO UPDATE SET was_clustered = true
    )
    INSERT INTO hippocampus.faded_sources (from_seq, to_seq, memory_id, source_id, thread_id, user_id, app_name)
    SELECT t.from_seq, t.to_seq, h.memory_id, t.source_id, t.thread_id, h.user_id, h.app_name FROM heirs h
    CROSS JOIN LATERAL (
        SELECT h.source_id, m.thread_id, m.from_seq, m.to_seq FROM hippocampus.memories m
        WHERE m.id = h.source_id AND m.user_id = h.user_id AND m.app_name = h.app_name
        UNION SELECT h.source_id, s.thread_id, s.from_seq, s.to_seq FROM hippocampus.memory_sources s
        WHERE s.memory_id = h.source_id AND s.user_id = h.user_id AND s.app_name = h.app_name
        UNION SELECT f.source_id, f.thread_id, f.from_seq, f.to_seq FROM hippocampus.faded_sources f
        WHERE f.memory_id = h.source_id AND f.user_id = h.user_id AND f.app_name = h.app_name) t;
END
$fn$;
COMMENT ON FUNCTION hippocampus._inherit_sources IS
    'Has what was made of memories that are about to fade inherit what they tell of, so that forgetting still finds it.';
REVOKE ALL ON FUNCTION hippocampus._inherit_sources FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._inherit_sources TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
