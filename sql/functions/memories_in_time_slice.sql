-- What began within the time, and what began before and reaches into it: few memories last at all, and an index of its
-- own has those.
CREATE OR REPLACE FUNCTION hippocampus.memories_in_time_slice(
    p_user_id text,
    p_app_name text,
    p_start timestamptz,
    p_end timestamptz,
    p_limit integer DEFAULT 50,
    p_memory_type text DEFAULT NULL,
    p_include_superseded boolean DEFAULT false
) RETURNS SETOF hippocampus.memories
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 50
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_limit', p_limit, 0, 10000);
    PERFORM hippocampus._check_one_of('p_memory_type', coalesce(p_memory_type, 'summary'), ARRAY['episodic', 'semantic', 'summary']);
    IF p_start > p_end THEN
        RAISE EXCEPTION 'p_start % is after p_end %', p_start, p_end
            USING ERRCODE = 'HC009', HINT = 'Give the earlier time first.';
    END IF;
    RETURN QUERY
    SELECT s.* FROM (
        (SELECT m.* FROM hippocampus.memories m
         WHERE m.user_id = p_user_id AND m.app_name = p_app_name
           AND m.occurred_from >= coalesce(p_start, '-infinity') AND m.occurred_from <= coalesce(p_end, 'infinity')
           AND (p_memory_type IS NULL OR m.memory_type = p_memory_type)
           AND (p_include_superseded OR m.superseded_by IS NULL)
         ORDER BY m.occurred_from DESC, m.from_seq DESC, m.id LIMIT p_limit)
        UNION ALL
        (SELECT m.* FROM hippocampus.memories m
         WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.occurred_until > m.occurred_from
           AND m.occurred_from < coalesce(p_start, '-infinity') AND m.occurred_until >= coalesce(p_start, '-infinity')
           AND (p_memory_type IS NULL OR m.memory_type = p_memory_type)
           AND (p_include_superseded OR m.superseded_by IS NULL)
         ORDER BY m.occurred_from DESC, m.from_seq DESC, m.id LIMIT p_limit)) s
    ORDER BY s.occurred_from DESC, s.from_seq DESC, s.id LIMIT p_limit;
END
$fn$;
COMMENT ON FUNCTION hippocampus.memories_in_time_slice IS
    'A user''s memories of what happened between two times (inclusive), also where it began before or ended after, newest first. Superseded ones only with p_include_superseded.';
REVOKE ALL ON FUNCTION hippocampus.memories_in_time_slice FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.memories_in_time_slice
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
