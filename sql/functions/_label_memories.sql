-- Keeps memory_labels: on insert for all rows of a statement at once, on a change of tags or metadata row by row.
-- A deletion takes them along, of all rows of a statement at once.
CREATE OR REPLACE FUNCTION hippocampus._label_memories()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET enable_hashjoin = off -- or many rows that go would have all rows of all users read
SET enable_mergejoin = off
AS $fn$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO hippocampus.memory_labels (occurred_from, memory_id, user_id, app_name, label)
        SELECT n.occurred_from, n.id, n.user_id, n.app_name, l.label
        FROM new_rows n CROSS JOIN LATERAL hippocampus._labels(n.tags, n.metadata) AS l (label)
        WHERE n.tags <> '{}' OR n.metadata <> '{}';
        RETURN NULL;
    ELSIF TG_OP = 'DELETE' THEN
        DELETE FROM hippocampus.memory_labels l -- no join: of a user who is new to the statistics all rows would be compared with all ids
        WHERE NOT hippocampus._user_goes() AND l.memory_id = ANY (ARRAY(SELECT o.id FROM old_rows o WHERE o.tags <> '{}' OR o.metadata <> '{}'))
          AND ((l.memory_id, l.user_id, l.app_name) IN (SELECT o.id, o.user_id, o.app_name FROM old_rows o)) IS TRUE;
        RETURN NULL;
    END IF;
    DELETE FROM hippocampus.memory_labels l
    WHERE l.memory_id = NEW.id AND l.user_id = NEW.user_id AND l.app_name = NEW.app_name;
    INSERT INTO hippocampus.memory_labels (occurred_from, memory_id, user_id, app_name, label)
    SELECT NEW.occurred_from, NEW.id, NEW.user_id, NEW.app_name, l.label
    FROM hippocampus._labels(NEW.tags, NEW.metadata) AS l (label);
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._label_memories IS 'Trigger: keeps the index of tags and context of memories.';
REVOKE ALL ON FUNCTION hippocampus._label_memories FROM PUBLIC;

CREATE OR REPLACE TRIGGER memories_label AFTER INSERT ON hippocampus.memories
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._label_memories();
CREATE OR REPLACE TRIGGER memories_label_again AFTER UPDATE OF tags, metadata ON hippocampus.memories
    FOR EACH ROW WHEN (OLD.tags <> NEW.tags OR OLD.metadata <> NEW.metadata)
    EXECUTE FUNCTION hippocampus._label_memories();
CREATE OR REPLACE TRIGGER memories_unlabel AFTER DELETE ON hippocampus.memories
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._label_memories();
