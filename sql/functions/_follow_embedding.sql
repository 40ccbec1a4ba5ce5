-- A chunk or memory that gets its vector is put into the lists of its tenant's anchors at once. A vector that comes
-- before its row (remember) waits for it: the row's own trigger is then the one that finds both.
CREATE OR REPLACE FUNCTION hippocampus._follow_embedding() RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF TG_TABLE_NAME = 'memories' THEN
        PERFORM hippocampus._extend_anchors(NEW.user_id, NEW.app_name, 'memory', NEW.id, NEW.source, e.embedding)
        FROM hippocampus.anchor_indexes i
        JOIN hippocampus.embedding_models g ON g.status = 'serving'
        JOIN hippocampus.embeddings e ON e.user_id = i.user_id AND e.app_name = i.app_name AND e.generation = g.generation
            AND e.source = 'memory' AND e.row_id = NEW.id
        WHERE i.user_id = NEW.user_id AND i.app_name = NEW.app_name;
    ELSE
        PERFORM hippocampus._extend_anchors(NEW.user_id, NEW.app_name, NEW.source, NEW.row_id, r.source, NEW.embedding)
        FROM hippocampus.anchor_indexes i
        JOIN hippocampus.embedding_models g ON g.status = 'serving' AND g.generation = NEW.generation
        CROSS JOIN LATERAL (
            SELECT d.source FROM hippocampus.chunks c
            JOIN hippocampus.documents d ON d.id = c.document_id AND d.user_id = c.user_id AND d.app_name = c.app_name
            WHERE NEW.source = 'chunk' AND c.id = NEW.row_id AND c.user_id = NEW.user_id AND c.app_name = NEW.app_name
            UNION ALL
            SELECT m.source FROM hippocampus.memories m
            WHERE NEW.source = 'memory' AND m.id = NEW.row_id AND m.user_id = NEW.user_id AND m.app_name = NEW.app_name
        ) r
        WHERE i.user_id = NEW.user_id AND i.app_name = NEW.app_name;
    END IF;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._follow_embedding IS
    'Trigger: puts what gets a vector into the lists of the anchors near to it.';
REVOKE ALL ON FUNCTION hippocampus._follow_embedding FROM PUBLIC;

CREATE OR REPLACE TRIGGER embeddings_follow AFTER INSERT ON hippocampus.embeddings
    FOR EACH ROW WHEN (NEW.source IN ('chunk', 'memory')) EXECUTE FUNCTION hippocampus._follow_embedding();
CREATE OR REPLACE TRIGGER memories_follow_embedding AFTER INSERT ON hippocampus.memories
    FOR EACH ROW EXECUTE FUNCTION hippocampus._follow_embedding();
