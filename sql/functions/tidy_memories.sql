-- The part of a sleep that needs no model: of the memories that no sleep has put in order yet, the newest first,
-- those near in meaning are linked; a semantic memory that says what another one says is superseded by it, which
-- takes over its strength; a memory takes on the tags that at least two of its neighbours have, but for one that is
-- shared, whose tags would tell others of private ones. How near that is, the bands of the model say. Memories with the same vector space only: one whose vector
-- is still to come waits in untidied_memories, as what is beyond p_limit does. Rows that somebody holds are left.
CREATE OR REPLACE FUNCTION hippocampus.tidy_memories(
    p_user_id text,
    p_app_name text,
    p_since timestamptz DEFAULT '-infinity',
    p_limit integer DEFAULT 500,
    p_link_similarity double precision DEFAULT NULL,
    p_duplicate_similarity double precision DEFAULT NULL
) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_bands jsonb := hippocampus._bands(p_app_name);
    v_link double precision := coalesce(p_link_similarity, (v_bands ->> 'ask')::double precision);
    v_duplicate double precision := coalesce(p_duplicate_similarity, (v_bands ->> 'duplicate')::double precision);
    v_ids uuid[];
    v_links integer;
    v_merged uuid[];
    v_near jsonb;
    v_tagged uuid[];
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_limit', p_limit, 1, 10000);
    PERFORM hippocampus._check_range('p_link_similarity', v_link, 0, 1);
    PERFORM hippocampus._check_range('p_duplicate_similarity', v_duplicate, 0, 1);
    INSERT INTO hippocampus.untidied_memories (memory_id, user_id, app_name)
    SELECT m.id, p_user_id, p_app_name FROM hippocampus.memories m
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.created_at > p_since AND m.superseded_by IS NULL AND m.memory_type <> 'summary'
    ORDER BY m.id FOR KEY SHARE ON CONFLICT (user_id, app_name, memory_id) DO NOTHING;
    SELECT coalesce(array_agg(n.id), '{}') INTO v_ids FROM (
        SELECT m.id FROM hippocampus.untidied_memories u
        JOIN hippocampus.embedding_models g ON g.status = 'serving'
        CROSS JOIN LATERAL hippocampus._memory_row(p_user_id, p_app_name, u.memory_id) m
        CROSS JOIN LATERAL ( -- LIMIT: see _memory_row
            SELECT FROM hippocampus.embeddings e WHERE e.user_id = p_user_id AND e.app_name = p_app_name
                AND e.generation = g.generation AND e.source = 'memory' AND e.row_id = u.memory_id LIMIT 1) e
        WHERE u.user_id = p_user_id AND u.app_name = p_app_name
        ORDER BY m.created_at DESC, m.id LIMIT p_limit) n;
    v_merged := hippocampus._merge_repeated(p_user_id, p_app_name, v_ids, v_duplicate);
    SELECT coalesce(jsonb_agg(to_jsonb(p)), '[]') INTO v_near
    FROM hippocampus._near_memories(p_user_id, p_app_name, v_ids, v_link) p;
    WITH near AS MATERIALIZED (
        SELECT max(least(1, p.similarity)) AS weight, least(p.memory_id, p.near_id) AS from_id, greatest(p.memory_id, p.near_id) AS to_id
        FROM jsonb_to_recordset(v_near) AS p (memory_id uuid, near_id uuid, similarity double precision) GROUP BY 2, 3
    ), held AS MATERIALIZED ( -- what is being forgotten is linked with nothing
        SELECT m.id FROM hippocampus.memories m
        WHERE m.id = ANY (ARRAY(SELECT n.from_id FROM near n UNION SELECT n.to_id FROM near n)) AND m.user_id = p_user_id AND m.app_name = p_app_name
        ORDER BY m.id FOR KEY SHARE SKIP LOCKED
    )
    INSERT INTO hippocampus.memory_links (weight, from_id, to_id, user_id, app_name, source)
    SELECT n.weight, n.from_id, n.to_id, p_user_id, p_app_name, 'sleep' FROM near n
    WHERE n.from_id IN (SELECT h.id FROM held h) AND n.to_id IN (SELECT h.id FROM held h)
    ORDER BY n.from_id, n.to_id
    ON CONFLICT (from_id, to_id, link_type, user_id, app_name) DO NOTHING;
    GET DIAGNOSTICS v_links = ROW_COUNT;
    WITH wanted AS (
        SELECT t.memory_id AS id, array_agg(t.tag ORDER BY t.tag) AS tags FROM (
            SELECT p.memory_id, u.tag FROM jsonb_to_recordset(v_near) AS p (memory_id uuid, near_id uuid)
            CROSS JOIN LATERAL hippocampus._memory_row(p_user_id, p_app_name, p.near_id) n
            CROSS JOIN LATERAL unnest(n.tags) AS u (tag)
            GROUP BY p.memory_id, u.tag HAVING count(DISTINCT p.near_id) >= 2) t
        GROUP BY t.memory_id
    ), held AS (
        SELECT m.id, ARRAY(SELECT DISTINCT x FROM unnest(m.tags || w.tags) x ORDER BY x) AS tags
        FROM wanted w JOIN hippocampus.memories m ON m.id = w.id AND m.user_id = p_user_id AND m.app_name = p_app_name
        WHERE NOT m.tags @> w.tags AND cardinality(m.tags || w.tags) <= 64 AND m.visibility = 'private'
        ORDER BY m.id FOR NO KEY UPDATE OF m SKIP LOCKED
    ), changed AS (
        UPDATE hippocampus.memories m SET tags = h.tags FROM held h
        WHERE m.id = h.id AND m.user_id = p_user_id AND m.app_name = p_app_name RETURNING m.id)
    SELECT coalesce(array_agg(c.id), '{}') INTO v_tagged FROM changed c;
    DELETE FROM hippocampus.untidied_memories u
    WHERE u.user_id = p_user_id AND u.app_name = p_app_name AND (u.memory_id = ANY (v_ids) OR NOT EXISTS (
        SELECT FROM hippocampus.memories m WHERE m.id = u.memory_id AND m.user_id = u.user_id AND m.app_name = u.app_name));
    RETURN jsonb_build_object('looked_at', cardinality(v_ids), 'links', v_links, 'merged', cardinality(v_merged), 'tagged', cardinality(v_tagged),
        'changed_ids', to_jsonb((v_merged || v_tagged)[1:500]));
END
$fn$;
COMMENT ON FUNCTION hippocampus.tidy_memories IS
    'Puts a user''s memories in order without a model, those made since p_since (null for none) and those that were left before, at most p_limit: links those near in meaning (p_link_similarity), supersedes a semantic memory that a newer one repeats, or an older one that is trusted more, with the same numbers and denials (p_duplicate_similarity), adds the tags that two neighbours have. The similarities are by default those of the setting similarity, ask and duplicate. Returns what it did: looked_at, links, merged, tagged, changed_ids; call it with p_since null until looked_at is 0.';
REVOKE ALL ON FUNCTION hippocampus.tidy_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.tidy_memories TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
