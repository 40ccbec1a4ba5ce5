-- Refuses a document that cannot be stored, naming the argument and the chunk.
CREATE OR REPLACE FUNCTION hippocampus._check_chunks(
    p_path text,
    p_chunks jsonb,
    p_source text,
    p_title text,
    p_kind text
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_chunk record;
BEGIN
    PERFORM hippocampus._check_size('p_path', p_path, 1, 1024);
    PERFORM hippocampus._check_size('p_source', p_source, 1, 255);
    PERFORM hippocampus._check_size('p_title', p_title, 0, 1024);
    PERFORM hippocampus._check_one_of('p_kind', p_kind, ARRAY['text', 'entity', 'project']);
    IF p_chunks IS NULL OR jsonb_typeof(p_chunks) <> 'array' THEN
        RAISE EXCEPTION 'p_chunks is %', coalesce('a JSON ' || jsonb_typeof(p_chunks), 'null')
            USING ERRCODE = 'HC009', HINT = 'Give an array of {"content": …, "start_line": …, "heading": …}.';
    END IF;
    FOR v_chunk IN SELECT e.chunk, format('p_chunks[%s]', e.n - 1) AS name FROM jsonb_array_elements(p_chunks) WITH ORDINALITY AS e (chunk, n) LOOP
        PERFORM hippocampus._check_size(v_chunk.name || '.content', v_chunk.chunk ->> 'content', 1, 65536);
        PERFORM hippocampus._check_size(v_chunk.name || '.heading', coalesce(v_chunk.chunk ->> 'heading', ''), 0, 4096);
        IF jsonb_typeof(v_chunk.chunk -> 'start_line') IS DISTINCT FROM 'number'
            OR jsonb_typeof(v_chunk.chunk -> 'token_count') NOT IN ('number', 'null')
            OR NOT pg_input_is_valid(v_chunk.chunk ->> 'start_line', 'integer')
            OR NOT pg_input_is_valid(coalesce(v_chunk.chunk ->> 'token_count', '0'), 'integer') THEN
            RAISE EXCEPTION '% has start_line % and token_count %', v_chunk.name, coalesce(v_chunk.chunk ->> 'start_line', 'null'),
                coalesce(v_chunk.chunk ->> 'token_count', 'null')
                USING ERRCODE = 'HC009', HINT = 'Give whole numbers; token_count may be left out.';
        END IF;
        PERFORM hippocampus._check_range(v_chunk.name || '.start_line', (v_chunk.chunk ->> 'start_line')::integer, 1, 2147483647);
        PERFORM hippocampus._check_range(v_chunk.name || '.token_count', coalesce((v_chunk.chunk ->> 'token_count')::integer, 0), 0, 1000000);
    END LOOP;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_chunks IS
    'Raises HC009 or HC006 for a document that cannot be stored.';
REVOKE ALL ON FUNCTION hippocampus._check_chunks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_chunks
    TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
