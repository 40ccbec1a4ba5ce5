-- Queues the next rows for the generation that is building, and returns how many it looked at; 0 when there are no
-- more, or when another one is at it. Begins when the transactions have ended that were open when the generation
-- began: what they wrote may not be queued for it. Rows that have their vector are passed over, so that
-- it can be called by any number of workers, and again after a crash.
CREATE OR REPLACE FUNCTION hippocampus.queue_reembedding(
    p_generation integer,
    p_limit integer DEFAULT 1000,
    p_now timestamptz DEFAULT now()
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_building hippocampus.embedding_models;
    v_ids uuid[];
    v_users text[];
    v_apps text[];
    v_looked integer := 0;
    v_source text;
    v_after uuid;
    v_sources constant text[] := ARRAY['memory', 'fact', 'chunk', 'anchor', 'store'];
BEGIN
    PERFORM hippocampus._check_range('p_limit', p_limit, 1, 1000000);
    PERFORM hippocampus._check_time('p_now', p_now);
    SELECT g.* INTO v_building FROM hippocampus.embedding_models g
    WHERE g.generation = p_generation AND g.status = 'building' AND g.queued_at IS NULL FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND AND NOT EXISTS (SELECT FROM hippocampus.embedding_models g WHERE g.generation = p_generation) THEN
        RAISE EXCEPTION 'there is no generation % of embeddings', coalesce(p_generation::text, 'null')
            USING ERRCODE = 'HC011', HINT = 'See hippocampus.embedding_models.';
    ELSIF NOT FOUND OR pg_snapshot_xmin(pg_current_snapshot())::text::bigint <= v_building.begun_xid THEN
        RETURN 0;
    END IF;
    v_source := coalesce(v_building.cursor_source, v_sources[1]);
    v_after := coalesce(v_building.cursor_id, '00000000-0000-0000-0000-000000000000');
    WHILE v_source IS NOT NULL LOOP
        SELECT array_agg(r.row_id ORDER BY r.row_id), array_agg(r.user_id ORDER BY r.row_id), array_agg(r.app_name ORDER BY r.row_id)
        INTO v_ids, v_users, v_apps FROM hippocampus._rows_to_embed(v_source, v_after, p_limit - v_looked) r;
        INSERT INTO hippocampus.embedding_queue (queued_at, run_after, row_id, user_id, app_name, source, generation)
        SELECT p_now, p_now, r.row_id, r.user_id, r.app_name, v_source, p_generation
        FROM unnest(v_ids, v_users, v_apps) AS r (row_id, user_id, app_name)
        WHERE NOT EXISTS (SELECT FROM hippocampus.embeddings e
            WHERE e.user_id = r.user_id AND e.app_name = r.app_name AND e.generation = p_generation AND e.source = v_source
              AND e.row_id = r.row_id)
        ON CONFLICT (row_id, user_id, app_name, generation) DO NOTHING;
        v_looked := v_looked + coalesce(cardinality(v_ids), 0);
        v_after := coalesce(v_ids[cardinality(v_ids)], v_after);
        EXIT WHEN v_looked >= p_limit;
        v_source := v_sources[array_position(v_sources, v_source) + 1];
        v_after := '00000000-0000-0000-0000-000000000000';
    END LOOP;
    UPDATE hippocampus.embedding_models g
    SET cursor_source = v_source, cursor_id = v_after, queued_at = CASE WHEN v_source IS NULL THEN p_now END,
        looked = g.looked + v_looked
    WHERE g.generation = p_generation;
    IF v_source IS NULL THEN -- so that large tenants have their indexes when it serves
        PERFORM hippocampus._enqueue_indexing('{"wait": true}');
    END IF;
    RETURN v_looked;
END
$fn$;
COMMENT ON FUNCTION hippocampus.queue_reembedding IS
    'Queues the next p_limit rows for a generation that is building; returns how many were looked at, 0 at the end. Raises HC011 for one that is not there.';
REVOKE ALL ON FUNCTION hippocampus.queue_reembedding FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.queue_reembedding TO hippocampus_worker;
