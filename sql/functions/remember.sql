-- Stores a memory. The same words again, of the same kind in the same scope, strengthen the memory that is
-- there: its encounter count grows, its intensity moves towards the new one, it counts as accessed now, and a
-- vector that comes along is its own. Told by another conversation too, it no longer belongs to the first
-- alone, and is not forgotten with it: its thread_id becomes null. Said by somebody who is trusted more, it is
-- theirs as well, and keeps their trust.
CREATE OR REPLACE FUNCTION hippocampus.remember(
    p_user_id text,
    p_app_name text,
    p_content text,
    p_memory_type text DEFAULT 'semantic',
    p_category text DEFAULT 'other',
    p_importance double precision DEFAULT NULL,
    p_tags text[] DEFAULT '{}',
    p_metadata jsonb DEFAULT '{}',
    p_embedding public.vector DEFAULT NULL,
    p_embedding_model text DEFAULT NULL,
    p_source text DEFAULT 'client',
    p_author text DEFAULT NULL,
    p_intensity double precision DEFAULT 0.5,
    p_initial_score double precision DEFAULT 0.2,
    p_thread_id uuid DEFAULT NULL,
    p_from_seq bigint DEFAULT NULL,
    p_to_seq bigint DEFAULT NULL,
    p_occurred_from timestamptz DEFAULT NULL,
    p_occurred_until timestamptz DEFAULT NULL,
    p_token_count integer DEFAULT NULL,
    p_trust text DEFAULT NULL,
    p_now timestamptz DEFAULT now()
) RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_id uuid := gen_random_uuid();
    v_found uuid;
    v_tags text[];
    v_metadata jsonb;
    v_trust text;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_memory(p_content, p_memory_type, p_category, p_importance, p_source, p_author, p_intensity, p_initial_score,
        p_occurred_from, p_occurred_until, p_token_count, p_now);
    PERFORM hippocampus._check_origin(p_user_id, p_app_name, p_thread_id, p_from_seq, p_to_seq, p_occurred_from, p_occurred_until);
    v_trust := hippocampus._claimed_trust(p_trust, p_user_id, p_app_name, p_memory_type, p_category, p_source, p_author, p_thread_id,
        p_from_seq, p_to_seq);
    v_tags := hippocampus._check_tags('p_tags', p_tags);
    v_metadata := hippocampus._check_object('p_metadata', p_metadata, 262144);
    IF p_embedding IS NOT NULL THEN
        -- before the row, so that the row is not queued for a vector that it has
        PERFORM hippocampus._store_embedding(p_user_id, p_app_name, 'memory', v_id, p_embedding, p_embedding_model);
    END IF;
    INSERT INTO hippocampus.memories AS m (created_at, last_accessed_at, occurred_from, occurred_until, forget_at, forget_policy, from_seq, to_seq,
        retention_score, initial_score, importance, running_intensity, token_count, token_count_exact, id, thread_id,
        user_id, app_name, memory_type, category, source, author, trust, content, content_hash, tags, metadata)
    SELECT p_now, p_now, coalesce(p_occurred_from, p_occurred_until, p_now), coalesce(p_occurred_until, p_occurred_from, p_now),
        hippocampus._forget_at(p, p_initial_score, p_intensity, 0, p_now, p_now), hippocampus._retention_hash(p_app_name),
        p_from_seq, coalesce(p_to_seq, p_from_seq), p_initial_score, p_initial_score,
        coalesce(p_importance, hippocampus.score_importance(p_category)), p_intensity,
        coalesce(p_token_count, hippocampus.estimate_tokens(p_content)), p_token_count IS NOT NULL, v_id, p_thread_id,
        p_user_id, p_app_name, p_memory_type, p_category, p_source, p_author, v_trust, p_content,
        hippocampus._content_hash(p_content), v_tags, v_metadata
    FROM hippocampus._retention_policy(p_app_name, p_memory_type, p_category) p
    ON CONFLICT (user_id, app_name, memory_type, content_hash, from_seq,
            (CASE WHEN from_seq IS NOT NULL OR (memory_type = 'summary' AND source = 'sleep') THEN coalesce(thread_id, id) END)) WHERE superseded_by IS NULL
    DO UPDATE SET
        running_intensity = (m.running_intensity * m.encounter_count + excluded.running_intensity) / (m.encounter_count + 1.0),
        encounter_count = least(m.encounter_count, 2147483646) + 1,
        access_count = least(m.access_count, 2147483646) + 1,
        importance = greatest(m.importance, excluded.importance),
        last_accessed_at = greatest(m.last_accessed_at, excluded.last_accessed_at),
        trust = hippocampus._joint_trust(m.trust, excluded.trust),
        thread_id = CASE WHEN m.thread_id = excluded.thread_id THEN m.thread_id END,
        tags = hippocampus._check_tags('p_tags, with those of the memory that is there,',
            ARRAY(SELECT DISTINCT t FROM unnest(m.tags || excluded.tags) t ORDER BY t)),
        metadata = hippocampus._check_object('p_metadata, with that of the memory that is there,',
            m.metadata || excluded.metadata, 262144)
    RETURNING m.id INTO v_found;
    IF v_found <> v_id AND p_embedding IS NOT NULL THEN
        DELETE FROM hippocampus.embeddings e WHERE e.row_id = v_id AND e.user_id = p_user_id AND e.app_name = p_app_name;
        PERFORM hippocampus._store_embedding(p_user_id, p_app_name, 'memory', v_found, p_embedding, p_embedding_model);
    END IF;
    RETURN v_found;
END
$fn$;
COMMENT ON FUNCTION hippocampus.remember IS
    'Stores a memory and returns its id; found by its words from the next statement on, by its meaning as soon as it has a vector. The same words again, of the same type and scope, return and strengthen the memory that is there. p_trust, whose words it holds (operator, user, agent, tool), is by default that of its events or its author.';
REVOKE ALL ON FUNCTION hippocampus.remember FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.remember TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
