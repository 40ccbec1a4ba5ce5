-- The text search configuration of an app: the dictionary that words go through.
CREATE OR REPLACE FUNCTION hippocampus._text_config(
    p_app_name text
) RETURNS regconfig
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT coalesce(hippocampus._setting(p_app_name, 'text_search_config') #>> '{}', 'pg_catalog.english')::regconfig;
END;
COMMENT ON FUNCTION hippocampus._text_config IS 'The text search configuration of an app (the setting text_search_config); english where none is set.';
REVOKE ALL ON FUNCTION hippocampus._text_config FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._text_config
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
