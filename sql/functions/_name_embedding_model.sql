-- Names the model of the serving generation, where it has none yet: the first trusted writer that says which model its
-- vectors are of decides for the deployment. Two such writers follow each other at the row. From a bound login it
-- does nothing: one tenant does not decide which model all others have.
-- SECURITY DEFINER because a service that has stepped down to a tenant writes vectors, and may not write
-- embedding_models; a name that is there does not change.
CREATE OR REPLACE FUNCTION hippocampus._name_embedding_model(
    p_model text
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_size('p_embedding_model', p_model, 1, 255);
    UPDATE hippocampus.embedding_models g SET model = p_model
    WHERE g.status = 'serving' AND g.model IS NULL AND hippocampus._is_trusted();
END
$fn$;
COMMENT ON FUNCTION hippocampus._name_embedding_model IS 'Names the model that serves, where it has no name yet and the login is trusted.';
REVOKE ALL ON FUNCTION hippocampus._name_embedding_model FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._name_embedding_model TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
