-- Begins a generation of embeddings of another model (or of the same one, anew) beside the one that serves. From
-- its commit on, new rows are queued for both; the rows that are there are queued by the workers that have the
-- model, a few at a time. Called again for the same model and dimension, it returns the one that is building, and has
-- what failed tried again at once: whoever calls it again has mended something.
CREATE OR REPLACE FUNCTION hippocampus.start_reembedding(
    p_model text,
    p_dimension integer,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.embedding_models
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_other hippocampus.embedding_models;
    v_begun hippocampus.embedding_models;
BEGIN
    PERFORM hippocampus._check_size('p_model', p_model, 1, 255);
    PERFORM hippocampus._check_range('p_dimension', p_dimension, 1, 4000);
    PERFORM hippocampus._check_time('p_now', p_now);
    PERFORM hippocampus._lock_generations();
    SELECT g.* INTO v_other FROM hippocampus.embedding_models g WHERE g.status = 'building';
    IF v_other.model = p_model AND v_other.dimension = p_dimension THEN
        UPDATE hippocampus.embedding_queue q SET run_after = p_now, attempts = 0
        WHERE q.generation = v_other.generation AND q.error IS NOT NULL;
        RETURN NEXT v_other;
        RETURN;
    END IF;
    IF v_other.generation IS NULL THEN
        SELECT g.* INTO v_other FROM hippocampus.embedding_models g WHERE g.status = 'standby';
    END IF;
    IF v_other.generation IS NOT NULL THEN
        RAISE EXCEPTION 'generation % (model %, % dimensions) is %', v_other.generation, quote_literal(v_other.model),
            v_other.dimension, v_other.status
            USING ERRCODE = 'HC009', HINT = 'Drop it first (drop_embedding_generation), or switch to it.';
    END IF;
    IF EXISTS (SELECT FROM hippocampus.embedding_models g WHERE g.status = 'serving' AND g.model IS NULL) THEN
        RAISE EXCEPTION 'the model that serves has no name yet'
            USING ERRCODE = 'HC009', HINT = 'Start a worker with it once: the first embedder names it.';
    END IF;
    INSERT INTO hippocampus.embedding_models AS g (created_at, generation, dimension, status, model, begun_xid)
    SELECT p_now, max(o.generation) + 1, p_dimension, 'building', p_model, pg_current_xact_id()::text::bigint
    FROM hippocampus.embedding_models o
    RETURNING g.* INTO v_begun;
    RETURN NEXT v_begun;
END
$fn$;
COMMENT ON FUNCTION hippocampus.start_reembedding IS
    'Begins a generation of embeddings of p_model beside the one that serves, and returns it. Workers with the model fill it; switch_embedding_generation puts it in place. Raises HC009 while another one is building or standby.';
REVOKE ALL ON FUNCTION hippocampus.start_reembedding FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.start_reembedding TO hippocampus_worker;
