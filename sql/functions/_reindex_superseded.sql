-- A superseded memory is never returned, so it takes no place in a search: its words and vectors go when it
-- is superseded, and come back (the vector by the queue) should that be taken back.
CREATE OR REPLACE FUNCTION hippocampus._reindex_superseded()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF OLD.superseded_by IS NULL AND NEW.superseded_by IS NOT NULL THEN
        PERFORM hippocampus._unindex_terms('memory', ARRAY[NEW.id], ARRAY[NEW.user_id], ARRAY[NEW.app_name]);
        DELETE FROM hippocampus.embeddings e
        WHERE e.row_id = NEW.id AND e.user_id = NEW.user_id AND e.app_name = NEW.app_name;
        DELETE FROM hippocampus.embedding_queue q
        WHERE q.row_id = NEW.id AND q.user_id = NEW.user_id AND q.app_name = NEW.app_name;
    ELSIF OLD.superseded_by IS NOT NULL AND NEW.superseded_by IS NULL THEN
        PERFORM hippocampus._index_terms('memory', ARRAY[NEW.id], ARRAY[NEW.user_id], ARRAY[NEW.app_name],
            ARRAY[hippocampus._memory_words(NEW.memory_type, NEW.content, NEW.occurred_from)], ARRAY[NEW.thread_id],
            ARRAY[CASE NEW.memory_type WHEN 'episodic' THEN NEW.from_seq END],
            ARRAY[NEW.memory_type = 'episodic' AND hippocampus._only_asks(NEW.content)]);
        INSERT INTO hippocampus.embedding_queue (row_id, user_id, app_name, source, generation)
        SELECT NEW.id, NEW.user_id, NEW.app_name, 'memory', g.generation
        FROM hippocampus.embedding_models g WHERE g.status <> 'retired'
        ON CONFLICT (row_id, user_id, app_name, generation) DO NOTHING; -- a bound login may have queued it by hand, and no sweep is to end by that
    END IF;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._reindex_superseded IS 'Trigger: takes a superseded memory out of the indexes of words and vectors, and back.';
REVOKE ALL ON FUNCTION hippocampus._reindex_superseded FROM PUBLIC;

CREATE OR REPLACE TRIGGER memories_superseded AFTER UPDATE OF superseded_by ON hippocampus.memories
    FOR EACH ROW EXECUTE FUNCTION hippocampus._reindex_superseded();
