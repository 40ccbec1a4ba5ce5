-- An anchor tells what the rows told that say it: it goes with the last of them. One that more than 8 rows say
-- is a word of the corpus, and the next rebuild's to judge.
CREATE OR REPLACE FUNCTION hippocampus._drop_anchors() RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    DELETE FROM hippocampus.anchors a USING (
        SELECT o.user_id, o.app_name, array_agg(o.id) AS ids FROM old_rows o
        WHERE EXISTS (SELECT FROM hippocampus.anchor_indexes i WHERE i.user_id = o.user_id AND i.app_name = o.app_name)
        GROUP BY o.user_id, o.app_name) g
    WHERE a.user_id = g.user_id AND a.app_name = g.app_name AND a.witnesses && g.ids
      AND NOT EXISTS (SELECT FROM hippocampus.chunks c
          WHERE c.id = ANY (a.witnesses) AND c.user_id = a.user_id AND c.app_name = a.app_name)
      AND NOT EXISTS (SELECT FROM hippocampus.memories m
          WHERE m.id = ANY (a.witnesses) AND m.user_id = a.user_id AND m.app_name = a.app_name);
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._drop_anchors IS
    'Trigger: deletes anchors that nothing says any more.';
REVOKE ALL ON FUNCTION hippocampus._drop_anchors FROM PUBLIC;

CREATE OR REPLACE TRIGGER chunks_drop_anchors AFTER DELETE ON hippocampus.chunks
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._drop_anchors();
CREATE OR REPLACE TRIGGER memories_drop_anchors AFTER DELETE ON hippocampus.memories
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._drop_anchors();
