-- Gives up a generation of embeddings that does not serve, and deletes its vectors, so many rows a call: call it
-- until it returns 0. It is retired at once: no row is queued for it, no client finds it. Its vector indexes go
-- with the next round of the worker that builds them. A writer that is just storing a vector of it may leave that
-- one behind; it is never read, and goes with its row.
CREATE OR REPLACE FUNCTION hippocampus.drop_embedding_generation(
    p_generation integer,
    p_limit integer DEFAULT 10000
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_retired hippocampus.embedding_models;
    v_last uuid;
    v_looked integer;
BEGIN
    PERFORM hippocampus._check_range('p_limit', p_limit, 1, 1000000);
    PERFORM hippocampus._lock_generations();
    SELECT g.* INTO v_retired FROM hippocampus.embedding_models g WHERE g.generation = p_generation;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no generation % of embeddings', coalesce(p_generation::text, 'null')
            USING ERRCODE = 'HC011', HINT = 'See hippocampus.embedding_models.';
    ELSIF v_retired.status = 'serving' THEN
        RAISE EXCEPTION 'generation % serves', p_generation
            USING ERRCODE = 'HC009', HINT = 'Switch to another one first (switch_embedding_generation).';
    ELSIF v_retired.status <> 'retired' THEN
        UPDATE hippocampus.embedding_models g SET status = 'retired', cursor_id = NULL, cursor_source = NULL
        WHERE g.generation = p_generation;
        DELETE FROM hippocampus.embedding_queue q WHERE q.generation = p_generation;
        v_retired.cursor_id := NULL;
    END IF;
    -- every row's vectors are looked at, in the order of an index: a generation has none of its own
    WITH looked AS MATERIALIZED (
        SELECT e.row_id, e.generation FROM hippocampus.embeddings e
        WHERE e.row_id > coalesce(v_retired.cursor_id, '00000000-0000-0000-0000-000000000000')
        ORDER BY e.row_id LIMIT p_limit
    ), deleted AS (
        DELETE FROM hippocampus.embeddings e USING looked l
        WHERE e.row_id = l.row_id AND e.generation = l.generation AND l.generation = p_generation
    )
    SELECT count(*), (array_agg(l.row_id ORDER BY l.row_id DESC))[1] INTO v_looked, v_last FROM looked l;
    -- the last row may have had more vectors than were looked at
    DELETE FROM hippocampus.embeddings e WHERE e.row_id = v_last AND e.generation = p_generation;
    UPDATE hippocampus.embedding_models g SET cursor_id = coalesce(v_last, g.cursor_id) WHERE g.generation = p_generation;
    RETURN v_looked;
END
$fn$;
COMMENT ON FUNCTION hippocampus.drop_embedding_generation IS
    'Retires a generation of embeddings that does not serve and deletes its vectors, looking at p_limit a call; returns how many it looked at, 0 at the end.';
REVOKE ALL ON FUNCTION hippocampus.drop_embedding_generation FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.drop_embedding_generation TO hippocampus_worker;
