-- Which settings a search takes its weights from: {"ranking": {app_name, key}, "evidence": {app_name, key}}. A
-- profile other than default has weights of its own.
CREATE OR REPLACE FUNCTION hippocampus._ranking_origins(
    p_app_name text,
    p_profile text,
    p_model text
) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT coalesce(jsonb_object_agg(o.part, o.origin), '{}') FROM (
        SELECT DISTINCT ON (1) CASE s.key WHEN 'evidence' THEN 'evidence' ELSE 'ranking' END AS part,
            jsonb_build_object('app_name', s.app_name, 'key', s.key) AS origin
        FROM hippocampus.settings s
        WHERE s.app_name IN (p_app_name, '*')
          AND (s.key = 'evidence' OR p_profile = 'default' AND s.key IN ('ranking', 'ranking/' || p_model))
        ORDER BY 1, s.app_name = '*', s.key = 'ranking') o;
END;
COMMENT ON FUNCTION hippocampus._ranking_origins IS 'Which settings a search takes its weights from.';
REVOKE ALL ON FUNCTION hippocampus._ranking_origins FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._ranking_origins TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
