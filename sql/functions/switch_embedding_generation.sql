-- Lets another generation serve, from the commit on: the one that is building, or, to roll back, the one that
-- served before. What served until now is standby: kept current, and searched by clients that name its model.
-- Refuses one that is not whole, see _lacking_rows. Indexes that large tenants lack are built from the commit on.
CREATE OR REPLACE FUNCTION hippocampus.switch_embedding_generation(
    p_generation integer,
    p_max_missing bigint DEFAULT 0,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.embedding_models
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_next hippocampus.embedding_models;
    v_standby integer;
    v_missing bigint;
BEGIN
    PERFORM hippocampus._check_time('p_now', p_now);
    PERFORM hippocampus._lock_generations();
    SELECT g.* INTO v_next FROM hippocampus.embedding_models g WHERE g.generation = p_generation AND g.status <> 'retired';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no generation % of embeddings', coalesce(p_generation::text, 'null')
            USING ERRCODE = 'HC011', HINT = 'See hippocampus.embedding_models; a retired one has no vectors.';
    ELSIF v_next.status = 'serving' THEN
        RETURN NEXT v_next;
        RETURN;
    ELSIF v_next.status = 'building' AND v_next.queued_at IS NULL THEN
        RAISE EXCEPTION 'generation % is not whole yet: its rows are still being queued', p_generation
            USING ERRCODE = 'HC009', HINT = 'Is a worker with its model running? Watch list_embedding_generations.';
    END IF;
    SELECT g.generation INTO v_standby FROM hippocampus.embedding_models g WHERE g.status = 'standby';
    IF v_standby <> p_generation THEN
        RAISE EXCEPTION 'generation % is standby', v_standby
            USING ERRCODE = 'HC009', HINT = 'Drop it first (drop_embedding_generation), or switch to it.';
    END IF;
    SELECT count(*) INTO v_missing FROM hippocampus._lacking_rows(p_generation, p_now);
    IF v_missing > coalesce(p_max_missing, 0) THEN
        RAISE EXCEPTION '% rows have no vector of generation %', v_missing, p_generation
            USING ERRCODE = 'HC009', HINT = 'Wait for a worker with its model, or see hippocampus.embedding_queue.error; p_max_missing says how many are accepted.';
    END IF;
    UPDATE hippocampus.embedding_models g SET status = 'standby', queued_at = coalesce(g.queued_at, p_now)
    WHERE g.status = 'serving' AND v_standby IS NULL;
    IF v_standby IS NOT NULL THEN -- the two change places; no two may be standby, nor serve, at any moment
        UPDATE hippocampus.embedding_models g SET status = 'retired' WHERE g.generation = p_generation;
        UPDATE hippocampus.embedding_models g SET status = 'standby', queued_at = coalesce(g.queued_at, p_now) WHERE g.status = 'serving';
    END IF;
    UPDATE hippocampus.embedding_models g SET status = 'serving' WHERE g.generation = p_generation RETURNING g.* INTO v_next;
    PERFORM hippocampus._enqueue_indexing('{"wait": true}');
    RETURN NEXT v_next;
END
$fn$;
COMMENT ON FUNCTION hippocampus.switch_embedding_generation IS
    'Lets a generation of embeddings serve that is building, or standby (a roll-back), from the commit on; the one that served is standby. Raises HC009 for one that lacks more than p_max_missing vectors, HC011 for one that is not there.';
REVOKE ALL ON FUNCTION hippocampus.switch_embedding_generation FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.switch_embedding_generation TO hippocampus_worker;
