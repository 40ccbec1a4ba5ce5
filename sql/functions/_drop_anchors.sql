-- An anchor tells what the rows told that say it: it goes with the last of them. One that more than 8 rows say
-- is a word of the corpus, and the next rebuild's to judge. A section that was changed may still say it, in words as a
-- question names it (_anchor_grams; «party» says no «art»): then its new chunk takes the place of the old one. A memory
-- leaves the lists that it is in; a chunk does by its foreign key.
CREATE OR REPLACE FUNCTION hippocampus._drop_anchors() RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF hippocampus._user_goes() THEN
        RETURN NULL;
    ELSIF TG_TABLE_NAME = 'memories' THEN
        DELETE FROM hippocampus.anchor_chunks c USING old_rows o
        WHERE c.memory_id = o.id AND c.user_id = o.user_id AND c.app_name = o.app_name;
    ELSE
        WITH told AS MATERIALIZED (
            SELECT n.id, n.user_id, n.app_name, n.key, n.witnesses, g.document_id, g.gone,
                n.key ~ '^[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u9fff\uf900-\ufaff\U00020000-\U0003ffff][^ ]*$' AS within -- a word, as these are written
            FROM (SELECT o.user_id, o.app_name, o.document_id, array_agg(o.id) AS gone FROM old_rows o
                  GROUP BY o.user_id, o.app_name, o.document_id) g
            JOIN hippocampus.anchors n ON n.user_id = g.user_id AND n.app_name = g.app_name AND n.witnesses && g.gone
        ), said AS MATERIALIZED (
            SELECT c.id, c.user_id, c.app_name, c.document_id, w.words
            FROM (SELECT DISTINCT t.user_id, t.app_name, t.document_id FROM told t) d
            JOIN hippocampus.chunks c ON c.document_id = d.document_id AND c.user_id = d.user_id AND c.app_name = d.app_name
            CROSS JOIN LATERAL hippocampus._anchor_said(c.heading || E'\n' || c.content, hippocampus._text_config(c.app_name)) AS w (words)
        )
        UPDATE hippocampus.anchors a SET witnesses = w.ids
        FROM (SELECT t.id, t.user_id, t.app_name, (array_agg(DISTINCT k.id))[1:8] AS ids FROM told t
              JOIN said s ON s.document_id = t.document_id AND s.user_id = t.user_id AND s.app_name = t.app_name
                  AND strpos(s.words, CASE WHEN t.within THEN t.key ELSE ' ' || t.key || ' ' END) > 0
              CROSS JOIN LATERAL (SELECT s.id UNION SELECT u.id FROM unnest(t.witnesses) AS u (id) WHERE u.id <> ALL (t.gone)) k
              GROUP BY t.id, t.user_id, t.app_name) w
        WHERE a.id = w.id AND a.user_id = w.user_id AND a.app_name = w.app_name;
    END IF;
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
    'Trigger: deletes anchors that nothing says any more, and what lists say of a memory that is gone.';
REVOKE ALL ON FUNCTION hippocampus._drop_anchors FROM PUBLIC;

CREATE OR REPLACE TRIGGER chunks_drop_anchors AFTER DELETE ON hippocampus.chunks
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._drop_anchors();
CREATE OR REPLACE TRIGGER memories_drop_anchors AFTER DELETE ON hippocampus.memories
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._drop_anchors();
