-- What others of the app share, as far as the filters of a recall let it through; null filters let all through.
CREATE OR REPLACE FUNCTION hippocampus._shared(
    p_user_id text,
    p_app_name text,
    p_types text[],
    p_memory_types text[],
    p_tags text[],
    p_min_importance double precision,
    p_since timestamptz
) RETURNS SETOF hippocampus.shared_memories
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 50
BEGIN ATOMIC
    SELECT s.*
    FROM hippocampus.shared_memories s
    WHERE s.app_name = p_app_name AND s.user_id <> p_user_id
      AND (p_types IS NULL OR s.category = ANY (p_types)) AND (p_memory_types IS NULL OR s.memory_type = ANY (p_memory_types))
      AND s.tags @> coalesce(p_tags, '{}') AND s.importance::numeric::double precision >= p_min_importance
      AND (p_since IS NULL OR s.occurred_from >= p_since);
END;
COMMENT ON FUNCTION hippocampus._shared IS 'The memories that others of the app share and that fit.';
REVOKE ALL ON FUNCTION hippocampus._shared FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._shared
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
