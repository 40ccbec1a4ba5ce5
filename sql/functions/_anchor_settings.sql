-- The settings of the anchor index: an app's own before the deployment's, and of each those for the embedding
-- model that is asked with (anchors/MODEL) before the general ones, since a similarity means something else to every
-- model.
CREATE OR REPLACE FUNCTION hippocampus._anchor_settings(
    p_app_name text
) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT coalesce(jsonb_object_agg(e.key, e.value ORDER BY s.n), '{}') -- of one key, the last holds
    FROM (SELECT s.value, CASE WHEN s.app_name = '*' THEN 1 ELSE 3 END + CASE WHEN s.key = 'anchors' THEN 0 ELSE 1 END AS n
          FROM hippocampus.settings s
          WHERE s.app_name IN (p_app_name, '*') AND s.key IN ('anchors',
              'anchors/' || (SELECT (hippocampus._query_generation(NULL)).model))) s
    CROSS JOIN LATERAL jsonb_each(s.value) e;
END;
COMMENT ON FUNCTION hippocampus._anchor_settings IS
    'The settings anchors and anchors/MODEL that hold for an app.';
REVOKE ALL ON FUNCTION hippocampus._anchor_settings FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._anchor_settings
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
