-- Sets the sources that may reach a result, in place of those before; none allows all. What another source stored
-- stays stored, and is found by nobody.
CREATE OR REPLACE FUNCTION hippocampus.put_source_allowlist(
    p_user_id text,
    p_app_name text,
    p_sources text[]
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('the number of p_sources', cardinality(coalesce(p_sources, '{}')), 0, 10000);
    PERFORM hippocampus._check_size('p_sources', s.source, 1, 255) FROM unnest(p_sources) AS s (source);
    PERFORM pg_advisory_xact_lock(hashtextextended('hippocampus.allowed_sources ' || p_user_id || E'\n' || p_app_name, 0));
    DELETE FROM hippocampus.allowed_sources a
    WHERE a.user_id = p_user_id AND a.app_name = p_app_name AND a.source <> ALL (coalesce(p_sources, '{}'));
    INSERT INTO hippocampus.allowed_sources (user_id, app_name, source)
    SELECT DISTINCT p_user_id, p_app_name, s.source FROM unnest(p_sources) AS s (source)
    ON CONFLICT DO NOTHING;
    RETURN (SELECT count(*) FROM hippocampus.allowed_sources a WHERE a.user_id = p_user_id AND a.app_name = p_app_name);
END
$fn$;
COMMENT ON FUNCTION hippocampus.put_source_allowlist IS
    'Sets the sources of documents and memories that lookup_anchors and search_chunks may return, in place of those before; an empty list allows all. Returns how many there are. It holds at once.';
REVOKE ALL ON FUNCTION hippocampus.put_source_allowlist FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.put_source_allowlist
    TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
