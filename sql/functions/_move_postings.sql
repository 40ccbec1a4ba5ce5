-- A memory whose thread was deleted stands nowhere in the log any more: the foreign key takes the thread from its
-- row, and this the place from its words, or it would go on having neighbours and a conversation. A memory never
-- gets another thread.
CREATE OR REPLACE FUNCTION hippocampus._move_postings()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    UPDATE hippocampus.postings p SET place = NULL
    WHERE p.row_id = NEW.id AND p.user_id = NEW.user_id AND p.app_name = NEW.app_name AND p.source = 'memory'
      AND p.place IS NOT NULL;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._move_postings IS 'Trigger: takes the place in the log from the words of a memory whose thread was deleted.';
REVOKE ALL ON FUNCTION hippocampus._move_postings FROM PUBLIC;

CREATE OR REPLACE TRIGGER memories_moved AFTER UPDATE OF thread_id ON hippocampus.memories
    FOR EACH ROW WHEN (OLD.thread_id IS NOT NULL AND NEW.thread_id IS NULL) EXECUTE FUNCTION hippocampus._move_postings();
