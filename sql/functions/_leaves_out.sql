-- Whether a search leaves out some of what its arms find: by a filter, or since a weak memory is not remembered under
-- a policy of the app. Just those that lie beyond a bounded arm may be wanted then, so that all that holds a word is looked up.
CREATE OR REPLACE FUNCTION hippocampus._leaves_out(
    p_app_name text,
    p_memory_types text[],
    p_categories text[],
    p_tags text[],
    p_thread_id uuid,
    p_since timestamptz,
    p_until timestamptz,
    p_min_importance double precision
) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RETURN num_nonnulls(p_memory_types, p_categories, p_tags, p_thread_id, p_since, p_until) > 0 OR p_min_importance > 0 OR EXISTS (
        SELECT FROM hippocampus.retention_policies p WHERE p.app_name IN (p_app_name, '*') AND p.model = 'strength');
END
$fn$;
COMMENT ON FUNCTION hippocampus._leaves_out IS 'Whether a search leaves out some of what its arms find, by a filter or a policy.';
REVOKE ALL ON FUNCTION hippocampus._leaves_out FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._leaves_out
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
