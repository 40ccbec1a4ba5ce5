-- Stores a memory under a name. The very same again is the memory that is there; anything else takes its place, and
-- what stood there is deleted. To replace is not to forget: the log, and what was drawn from it, stays as it is. Two
-- writers of a name follow each other.
CREATE OR REPLACE FUNCTION hippocampus._replace_memory(
    p_user_id text,
    p_app_name text,
    p_kind text,
    p_category text,
    p_name text,
    p_content text,
    p_tags text[],
    p_metadata jsonb,
    p_source text,
    p_trust text,
    p_embedding public.vector,
    p_embedding_model text,
    p_now timestamptz
) RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_given bytea := sha256(convert_to(jsonb_build_array(p_content, p_tags, p_metadata, p_trust)::text, 'UTF8'));
    v_old uuid;
    v_same boolean;
    v_id uuid;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_size('p_content', p_content, 1, 1048576);
    PERFORM pg_advisory_xact_lock(hashtextextended(
        format('hippocampus.named %L %L %L %L %L', p_user_id, p_app_name, p_kind, p_category, p_name), 0));
    SELECT n.memory_id, n.given = v_given INTO v_old, v_same FROM hippocampus.named_memories n
    WHERE n.user_id = p_user_id AND n.app_name = p_app_name AND n.kind = p_kind AND n.category = p_category AND n.name = p_name;
    IF v_same THEN
        RETURN v_old;
    END IF;
    -- the old one first: two versions may differ by what a content hash folds
    IF v_old IS NOT NULL AND NOT EXISTS (
            SELECT FROM hippocampus.named_memories o WHERE o.memory_id = v_old AND o.user_id = p_user_id AND o.app_name = p_app_name
              AND (o.kind, o.category, o.name) IS DISTINCT FROM (p_kind, p_category, p_name)) THEN
        PERFORM hippocampus._delete_rows(p_user_id, p_app_name, ARRAY[v_old]);
    END IF;
    v_id := hippocampus.remember(p_user_id, p_app_name, p_content, 'semantic', 'insight', NULL, p_tags, p_metadata, p_embedding,
        p_embedding_model, p_source, p_initial_score => 1.0, p_trust => p_trust, p_now => p_now);
    INSERT INTO hippocampus.named_memories AS n (stored_at, memory_id, user_id, app_name, kind, category, name, given)
    VALUES (p_now, v_id, p_user_id, p_app_name, p_kind, p_category, p_name, v_given)
    ON CONFLICT (user_id, app_name, kind, category, name)
    DO UPDATE SET memory_id = excluded.memory_id, stored_at = excluded.stored_at, given = excluded.given;
    RETURN v_id;
END
$fn$;
COMMENT ON FUNCTION hippocampus._replace_memory IS
    'Stores a memory under a kind, category and name, in place of the one that stands there. Returns the memory''s id; the same one where nothing changed.';
REVOKE ALL ON FUNCTION hippocampus._replace_memory FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._replace_memory TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
