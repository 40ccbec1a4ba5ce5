-- A memory whose thread was deleted stands nowhere in the log any more: the foreign key takes the thread from its
-- row, and this the place from its terms, or it would go on having neighbours and a conversation. A memory never
-- gets another thread. It becomes a row that is not folded yet, in place of the one that is, which is noted as gone.
CREATE OR REPLACE FUNCTION hippocampus._move_terms()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_moved hippocampus.row_terms[];
BEGIN
    v_moved := ARRAY(SELECT r FROM hippocampus.row_terms r
        WHERE r.row_id = NEW.id AND r.user_id = NEW.user_id AND r.app_name = NEW.app_name AND r.source = 'memory' AND r.place IS NOT NULL
          AND NOT EXISTS (SELECT FROM hippocampus.unindexed_rows n WHERE n.user_id = r.user_id AND n.app_name = r.app_name AND n.id = r.id));
    IF cardinality(v_moved) > 0 THEN
        PERFORM hippocampus._note_unindexed('memory', ARRAY[NEW.id], ARRAY[NEW.user_id], ARRAY[NEW.app_name]);
        INSERT INTO hippocampus.row_terms (row_id, length, asks, user_id, app_name, source, terms, counts)
        SELECT m.row_id, m.length, m.asks, m.user_id, m.app_name, m.source, m.terms, m.counts FROM unnest(v_moved) AS m;
    END IF;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._move_terms IS 'Trigger: takes the place in the log from the terms of a memory whose thread was deleted.';
REVOKE ALL ON FUNCTION hippocampus._move_terms FROM PUBLIC;

CREATE OR REPLACE TRIGGER memories_moved AFTER UPDATE OF thread_id ON hippocampus.memories
    FOR EACH ROW WHEN (OLD.thread_id IS NOT NULL AND NEW.thread_id IS NULL) EXECUTE FUNCTION hippocampus._move_terms();
