-- The weights of a ranking profile. The default profile's are a setting: an app's own before the deployment's,
-- and of each the one for the embedding model that serves (ranking/MODEL) before the general one (ranking),
-- since a similarity means something else to every model.
CREATE OR REPLACE FUNCTION hippocampus._ranking(
    p_app_name text,
    p_profile text,
    p_model text
) RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RETURN CASE p_profile
        WHEN 'strength' THEN '{"text": 0, "vector": 0.6, "strength": 0.3, "recency": 0.1}'::jsonb
        WHEN 'retention' THEN '{"text": 0, "vector": 1, "strength": 0, "recency": 0}'::jsonb
        ELSE (SELECT s.value FROM hippocampus.settings s
              WHERE s.app_name IN (p_app_name, '*') AND s.key IN ('ranking', 'ranking/' || p_model)
              ORDER BY s.app_name = '*', s.key = 'ranking'
              LIMIT 1) END;
END
$fn$;
COMMENT ON FUNCTION hippocampus._ranking IS
    'The weights of a ranking profile: text, vector, strength, recency. The default profile''s are the settings ranking/MODEL or ranking.';
REVOKE ALL ON FUNCTION hippocampus._ranking FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._ranking
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
