-- Lets what was read live its time again. Apart from the reads, which so can be made of a replica and by a
-- reader; in one statement with them it is one read that refreshes. Rows are locked in the order of their keys: two
-- that refresh the same items follow each other.
CREATE OR REPLACE FUNCTION hippocampus.store_refresh(
    p_user_id text,
    p_app_name text,
    p_entries hippocampus.store_entries[],
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.store_entries
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_time('p_now', p_now);
    RETURN QUERY
    WITH held AS MATERIALIZED (
        SELECT s.path, s.key FROM unnest(p_entries) e
        JOIN hippocampus.store_items s ON s.user_id = p_user_id AND s.app_name = p_app_name
            AND s.path = hippocampus._namespace_path(e.namespace) AND s.key = e.key
        WHERE s.expires_at > p_now
        ORDER BY s.path, s.key FOR NO KEY UPDATE OF s
    ), refreshed AS (
        UPDATE hippocampus.store_items s SET expires_at = p_now + s.ttl FROM held h
        WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.path = h.path AND s.key = h.key
        RETURNING s.path, s.key, s.expires_at
    )
    SELECT e.namespace, e.key, e.value, e.created_at, e.updated_at, coalesce(r.expires_at, e.expires_at), e.score
    FROM unnest(p_entries) WITH ORDINALITY AS e (namespace, key, value, created_at, updated_at, expires_at, score, place)
    LEFT JOIN refreshed r ON r.path = hippocampus._namespace_path(e.namespace) AND r.key = e.key
    ORDER BY e.place;
END
$fn$;
COMMENT ON FUNCTION hippocampus.store_refresh IS
    'Lets items that were read live their p_ttl again from p_now, and returns them in their order: SELECT * FROM store_refresh(user, app, ARRAY(SELECT e FROM store_get(user, app, ''{notes}'', ''tea'') e)).';
REVOKE ALL ON FUNCTION hippocampus.store_refresh FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.store_refresh TO hippocampus_tenant, hippocampus_service;
