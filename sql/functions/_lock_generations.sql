-- Those who change which generation serves follow each other. They lock the rows and not a name: an advisory lock
-- could be held by any login, a row only by one that may update it. Writers of vectors, who share its key, do not wait.
CREATE OR REPLACE FUNCTION hippocampus._lock_generations()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM FROM hippocampus.embedding_models g ORDER BY g.generation FOR NO KEY UPDATE;
END
$fn$;
COMMENT ON FUNCTION hippocampus._lock_generations IS 'Holds the generations of embeddings until the transaction ends.';
REVOKE ALL ON FUNCTION hippocampus._lock_generations FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._lock_generations TO hippocampus_worker;
