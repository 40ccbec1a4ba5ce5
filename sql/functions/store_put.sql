-- Writes an item. Two that put the same key follow each other. Where the text that is searched stays the same the
-- row does too, and its vector; another text is another row, see store_items.id.
CREATE OR REPLACE FUNCTION hippocampus.store_put(
    p_user_id text,
    p_app_name text,
    p_namespace text[],
    p_key text,
    p_value jsonb,
    p_ttl interval DEFAULT NULL,
    p_index text[] DEFAULT NULL,
    p_embedding public.vector DEFAULT NULL,
    p_embedding_model text DEFAULT NULL,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.store_entries
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_namespace text[] := hippocampus._check_namespace('p_namespace', p_namespace);
    v_path text := hippocampus._namespace_path(v_namespace);
    v_text text;
    v_old hippocampus.store_items;
    v_item hippocampus.store_items;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_size('p_key', p_key, 1, 512);
    PERFORM hippocampus._check_time('p_now', p_now);
    IF p_value IS NULL OR p_value = 'null' THEN
        RAISE EXCEPTION 'p_value is null' USING ERRCODE = 'HC009', HINT = 'Give a JSON object; store_delete deletes an item.';
    ELSIF p_ttl <= interval '0' OR p_ttl > interval '100 years' THEN
        RAISE EXCEPTION 'p_ttl is %', p_ttl USING ERRCODE = 'HC009', HINT = 'Give more than nothing and at most 100 years; null for ever.';
    END IF;
    PERFORM hippocampus._check_time('the time that p_ttl ends', coalesce(p_now + p_ttl, p_now));
    PERFORM hippocampus._check_object('p_value', p_value, 1048576);
    v_text := hippocampus._store_text(p_value, p_index);
    PERFORM hippocampus._check_size('what p_index takes of p_value', v_text, 0, 1048576);
    IF p_embedding IS NOT NULL AND v_text = '' THEN
        RAISE EXCEPTION 'p_embedding is given, and p_index takes nothing of p_value' USING ERRCODE = 'HC009',
            HINT = 'Leave p_index out, or name paths that hold the text that the vector is of.';
    END IF;
    -- of two that write an item that is not there yet, the second must find the first one's
    PERFORM hippocampus._lock_store_keys(p_user_id, p_app_name, ARRAY[v_path], ARRAY[p_key]);
    SELECT s.* INTO v_old FROM hippocampus.store_items s
    WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.path = v_path AND s.key = p_key FOR UPDATE;
    IF v_old.text = v_text AND coalesce(v_old.expires_at > p_now, true) THEN
        UPDATE hippocampus.store_items s SET value = p_value, ttl = p_ttl, expires_at = p_now + p_ttl, updated_at = p_now
        WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.path = v_path AND s.key = p_key
        RETURNING s.* INTO v_item;
    ELSE
        DELETE FROM hippocampus.store_items s
        WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.path = v_path AND s.key = p_key;
        INSERT INTO hippocampus.store_items AS s (created_at, updated_at, expires_at, ttl, user_id, app_name, path, key, namespace, value, text)
        VALUES (CASE WHEN v_old.expires_at <= p_now THEN p_now ELSE coalesce(v_old.created_at, p_now) END, p_now, p_now + p_ttl,
            p_ttl, p_user_id, p_app_name, v_path, p_key, v_namespace, p_value, v_text)
        RETURNING s.* INTO v_item;
    END IF;
    IF p_embedding IS NOT NULL THEN
        PERFORM hippocampus._store_embedding(p_user_id, p_app_name, 'store', v_item.id, p_embedding, p_embedding_model);
    END IF;
    RETURN QUERY SELECT v_item.namespace, v_item.key, v_item.value, v_item.created_at, v_item.updated_at, v_item.expires_at,
        NULL::double precision;
END
$fn$;
COMMENT ON FUNCTION hippocampus.store_put IS
    'Stores a JSON object under a namespace (1 to 32 segments) and a key, in place of one that is there, and returns it. p_ttl is how long it lives; for ever by default. p_index names the paths of what is searched (title, author.name, notes[*].text): the whole value by default, nothing for ''{}''; of what is nested deeper than 64 levels nothing. p_embedding is the text''s vector; without one a worker makes it.';
REVOKE ALL ON FUNCTION hippocampus.store_put FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.store_put TO hippocampus_tenant, hippocampus_service;
