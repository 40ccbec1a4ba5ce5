-- A deleted row takes its vectors of every generation and its place in the queue along.
CREATE OR REPLACE FUNCTION hippocampus._drop_embeddings()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET enable_hashjoin = off -- or many rows that go would have all rows of all users read
SET enable_mergejoin = off
AS $fn$
BEGIN
    IF hippocampus._user_goes() THEN
        RETURN NULL;
    END IF;
    DELETE FROM hippocampus.embeddings e USING old_rows o
    WHERE e.row_id = o.id AND e.user_id = o.user_id AND e.app_name = o.app_name;
    DELETE FROM hippocampus.embedding_queue q USING old_rows o
    WHERE q.row_id = o.id AND q.user_id = o.user_id AND q.app_name = o.app_name;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._drop_embeddings IS 'Trigger: deletes the vectors of deleted rows.';
REVOKE ALL ON FUNCTION hippocampus._drop_embeddings FROM PUBLIC;

CREATE OR REPLACE TRIGGER memories_drop_embeddings AFTER DELETE ON hippocampus.memories
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._drop_embeddings();
CREATE OR REPLACE TRIGGER facts_drop_embeddings AFTER DELETE ON hippocampus.facts
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._drop_embeddings();
CREATE OR REPLACE TRIGGER store_items_drop_embeddings AFTER DELETE ON hippocampus.store_items
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._drop_embeddings();
CREATE OR REPLACE TRIGGER chunks_drop_embeddings AFTER DELETE ON hippocampus.chunks
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._drop_embeddings();
CREATE OR REPLACE TRIGGER anchors_drop_embeddings AFTER DELETE ON hippocampus.anchors
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._drop_embeddings();
