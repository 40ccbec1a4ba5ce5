-- Deletes memories whose time is over, which is not forgetting: what was made of them stays, and inherits what they
-- were made of and told, by which forgetting finds it. The caller holds them. One whose clusters, insights or sources
-- somebody else holds, who may be forgetting them, is left for the next sweep: nobody is waited for. What is pinned stays.
-- Their words are taken out later, user by user: what one has written into its index by hand is not to end a sweep of all.
CREATE OR REPLACE FUNCTION hippocampus._fade_memories(
    p_ids uuid[],
    p_user_ids text[],
    p_app_names text[]
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET enable_hashjoin = off -- or many rows that go would have all rows of all users read
SET enable_mergejoin = off
AS $fn$
DECLARE
    v record;
    v_deleted integer;
    v_fold_later text := coalesce(current_setting('hippocampus.fold_later', true), '');
BEGIN
    WITH going AS MATERIALIZED (
        SELECT g.id, g.user_id, g.app_name FROM unnest(p_ids, p_user_ids, p_app_names) AS g (id, user_id, app_name)
    ), near AS MATERIALIZED (
        SELECT g.id, g.user_id, g.app_name, d.other_id FROM going g
        CROSS JOIN LATERAL hippocampus._derived_from(g.user_id, g.app_name, g.id) AS d (other_id)
        UNION
        SELECT g.id, g.user_id, g.app_name, s.other_id FROM going g
        CROSS JOIN LATERAL hippocampus._sources_of(g.user_id, g.app_name, g.id) AS s (other_id)
    ), behind AS MATERIALIZED ( -- what it had superseded, which comes back
        SELECT g.id, g.user_id, g.app_name, m.id AS other_id FROM going g
        JOIN hippocampus.memories m ON m.superseded_by = g.id AND m.user_id = g.user_id AND m.app_name = g.app_name
    ), held AS MATERIALIZED (
        SELECT m.id, m.user_id, m.app_name FROM (
            SELECT n.other_id, n.user_id, n.app_name FROM near n UNION SELECT b.other_id, b.user_id, b.app_name FROM behind b) o
        JOIN hippocampus.memories m ON m.id = o.other_id AND m.user_id = o.user_id AND m.app_name = o.app_name
        ORDER BY m.id FOR KEY SHARE OF m SKIP LOCKED
    ), waits AS MATERIALIZED (
        SELECT n.id, n.user_id, n.app_name FROM (TABLE near UNION ALL TABLE behind) n
        WHERE NOT EXISTS (SELECT FROM held h WHERE h.id = n.other_id AND h.user_id = n.user_id AND h.app_name = n.app_name)
        UNION ALL SELECT g.id, g.user_id, g.app_name FROM going g JOIN hippocampus._pinned(p_ids, p_user_ids, p_app_names) AS p (id) ON p.id = g.id
    )
    SELECT array_agg(g.id) AS ids, array_agg(g.user_id) AS user_ids, array_agg(g.app_name) AS app_names, EXISTS (SELECT FROM near) AS tied
    INTO v FROM going g
    WHERE NOT EXISTS (SELECT FROM waits w WHERE w.id = g.id AND w.user_id = g.user_id AND w.app_name = g.app_name);
    IF v.tied THEN
        PERFORM hippocampus._inherit_sources(v.ids, v.user_ids, v.app_names);
    END IF;
    PERFORM set_config('hippocampus.fold_later', 'on', true);
    DELETE FROM hippocampus.memories m USING unnest(v.ids, v.user_ids, v.app_names) AS g (id, user_id, app_name)
    WHERE m.id = g.id AND m.user_id = g.user_id AND m.app_name = g.app_name;
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    PERFORM set_config('hippocampus.fold_later', v_fold_later, true);
    RETURN v_deleted;
END
$fn$;
COMMENT ON FUNCTION hippocampus._fade_memories IS
    'Deletes memories for retention, without what was made of them, and returns how many; those that are pinned, or hang together with something that is held, are left.';
REVOKE ALL ON FUNCTION hippocampus._fade_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._fade_memories TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
