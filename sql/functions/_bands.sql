-- How alike two texts must be: the setting similarity/MODEL of the model that is asked with, or similarity; an app's
-- own before the deployment's. A similarity means something else to every model.
CREATE OR REPLACE FUNCTION hippocampus._bands(
    p_app_name text
) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT s.value FROM hippocampus.settings s
    WHERE s.app_name IN (p_app_name, '*') AND s.key IN ('similarity', 'similarity/' || (
        SELECT (hippocampus._query_generation(NULL)).model))
    ORDER BY s.app_name = '*', s.key = 'similarity'
    LIMIT 1;
END;
COMMENT ON FUNCTION hippocampus._bands IS
    'From which similarity on two facts are one (duplicate), are compared (ask), and a description means a memory (forget): the settings similarity/MODEL or similarity.';
REVOKE ALL ON FUNCTION hippocampus._bands FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._bands
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
