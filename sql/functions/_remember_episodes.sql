-- Stores episodes of a thread as remember does, all in one statement, so that a consolidation writes its batch within
-- milliseconds. One that is there already, from an earlier try or from remember_events, or twice in the batch, goes to
-- remember itself: what is said again is its to judge. Whoever makes a thread's episodes holds the thread, so that
-- nobody else makes the same ones meanwhile. p_embeddings has the numbers of a vector for each, one
-- after the other and in no type of pgvector's, which programs can't name; or it is null: they are queued for one.
CREATE OR REPLACE FUNCTION hippocampus._remember_episodes(
    p_user_id text,
    p_app_name text,
    p_thread_id uuid,
    p_episodes jsonb,
    p_embeddings real[],
    p_embedding_model text,
    p_now timestamptz DEFAULT now()
) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC' -- of a time that names no zone, in every session
AS $fn$
DECLARE
    v_ids uuid[];
    v_fresh uuid[];
    v_again bigint;
    v_item jsonb;
    v_size bigint := cardinality(p_embeddings) / nullif(jsonb_array_length(p_episodes), 0);
BEGIN
    SELECT array_agg(g.id ORDER BY g.place), array_agg(CASE WHEN g.known IS NULL AND g.nth = 1 THEN g.id END ORDER BY g.place)
    INTO v_ids, v_fresh
    FROM (
        SELECT e.place, gen_random_uuid() AS id, m.id AS known,
            row_number() OVER (PARTITION BY h.hash, e.item ->> 'from_seq' ORDER BY e.place) AS nth
        FROM jsonb_array_elements(p_episodes) WITH ORDINALITY AS e (item, place)
        CROSS JOIN LATERAL hippocampus._content_hash(e.item ->> 'content') AS h (hash)
        LEFT JOIN hippocampus.memories m ON m.user_id = p_user_id AND m.app_name = p_app_name AND m.memory_type = 'episodic'
            AND m.content_hash = h.hash AND m.from_seq = (e.item ->> 'from_seq')::bigint AND m.thread_id = p_thread_id AND m.superseded_by IS NULL
    ) g;
    IF p_embeddings IS NOT NULL THEN
        PERFORM hippocampus._store_embeddings(p_user_id, p_app_name, 'memory', array_agg(f.id ORDER BY f.place),
            array_agg(p_embeddings[(f.place - 1) * v_size + 1 : f.place * v_size]::public.vector ORDER BY f.place), p_embedding_model)
        FROM unnest(v_fresh) WITH ORDINALITY AS f (id, place) WHERE f.id IS NOT NULL HAVING count(*) > 0;
    END IF;
    INSERT INTO hippocampus.memories (created_at, last_accessed_at, occurred_from, occurred_until, from_seq, to_seq, retention_score,
        initial_score, importance, token_count, token_count_exact, id, thread_id, user_id, app_name, memory_type, category,
        source, author, trust, content, content_hash, tags, metadata)
    SELECT p_now, p_now, e.occurred_from, e.occurred_until, e.from_seq, e.to_seq, e.initial_score, e.initial_score, e.importance,
        e.token_count, true, f.id, p_thread_id, p_user_id, p_app_name, 'episodic', e.category, e.source, e.author,
        hippocampus._memory_trust(p_user_id, p_app_name, 'episodic', e.category, e.source, e.author, p_thread_id, e.from_seq, e.to_seq),
        e.content, hippocampus._content_hash(e.content), hippocampus._check_tags('tags', e.tags), coalesce(e.metadata, '{}')
    FROM unnest(v_fresh) WITH ORDINALITY AS f (id, place)
    CROSS JOIN LATERAL jsonb_to_record(p_episodes -> (f.place - 1)::integer) AS e (occurred_from timestamptz, occurred_until timestamptz,
        from_seq bigint, to_seq bigint, initial_score real, importance real, token_count integer, category text, source text,
        author text, content text, tags text[], metadata jsonb)
    WHERE f.id IS NOT NULL;
    FOR v_again IN SELECT f.place FROM unnest(v_fresh) WITH ORDINALITY AS f (id, place) WHERE f.id IS NULL LOOP
        v_item := p_episodes -> (v_again - 1)::integer;
        v_ids[v_again] := hippocampus.remember(p_user_id, p_app_name, v_item ->> 'content', 'episodic', v_item ->> 'category',
            (v_item ->> 'importance')::double precision, ARRAY(SELECT jsonb_array_elements_text(nullif(v_item -> 'tags', 'null'))),
            coalesce(nullif(v_item -> 'metadata', 'null'), '{}'),
            p_embeddings[(v_again - 1) * v_size + 1 : v_again * v_size]::public.vector, p_embedding_model,
            v_item ->> 'source', v_item ->> 'author', p_initial_score => (v_item ->> 'initial_score')::double precision, p_thread_id => p_thread_id,
            p_from_seq => (v_item ->> 'from_seq')::bigint, p_to_seq => (v_item ->> 'to_seq')::bigint,
            p_occurred_from => (v_item ->> 'occurred_from')::timestamptz, p_occurred_until => (v_item ->> 'occurred_until')::timestamptz,
            p_token_count => (v_item ->> 'token_count')::integer, p_now => p_now);
    END LOOP;
    RETURN coalesce(v_ids, '{}');
END
$fn$;
COMMENT ON FUNCTION hippocampus._remember_episodes IS 'Stores the episodes of a consolidation at once, and returns their ids in order.';
REVOKE ALL ON FUNCTION hippocampus._remember_episodes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._remember_episodes TO hippocampus_worker;
