-- What a row that is gone had taken the place of is superseded no longer, whatever deleted that row: a forgotten
-- conversation, retention, or a client. A memory is found again; where one of its words is there already, that one takes
-- its place now. A fact ended all the same, and stays history; the reason may have told of the other, and goes.
CREATE OR REPLACE FUNCTION hippocampus._release_superseded()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET enable_hashjoin = off -- see _drop_embeddings
SET enable_mergejoin = off
AS $fn$
BEGIN
    IF hippocampus._user_goes() THEN
        RETURN NULL;
    ELSIF TG_TABLE_NAME = 'facts' THEN
        UPDATE hippocampus.facts f SET superseded_by = NULL, closed_reason = NULL
        WHERE f.superseded_by = ANY (ARRAY(SELECT o.id FROM old_rows o))
          AND ((f.superseded_by, f.user_id, f.app_name) IN (SELECT o.id, o.user_id, o.app_name FROM old_rows o)) IS TRUE;
        RETURN NULL;
    END IF;
    WITH released AS MATERIALIZED (
        SELECT m.id, m.user_id, m.app_name, m.memory_type, m.content_hash, m.from_seq, m.created_at,
            CASE WHEN m.from_seq IS NOT NULL OR (m.memory_type = 'summary' AND m.source = 'sleep') THEN coalesce(m.thread_id, m.id) END AS place
        FROM hippocampus.memories m
        WHERE m.superseded_by = ANY (ARRAY(SELECT o.id FROM old_rows o)) -- no join, see _label_memories
          AND ((m.superseded_by, m.user_id, m.app_name) IN (SELECT o.id, o.user_id, o.app_name FROM old_rows o)) IS TRUE
        ORDER BY m.id FOR NO KEY UPDATE
    ), judged AS (
        SELECT r.id, r.user_id, r.app_name, coalesce(t.id, nullif(first_value(r.id) OVER (
            PARTITION BY r.user_id, r.app_name, r.memory_type, r.content_hash, r.from_seq, r.place ORDER BY r.created_at DESC, r.id), r.id)) AS heir
        FROM released r
        LEFT JOIN LATERAL (
            SELECT k.id FROM hippocampus.memories k
            WHERE k.user_id = r.user_id AND k.app_name = r.app_name AND k.memory_type = r.memory_type AND k.content_hash = r.content_hash
              AND k.from_seq IS NOT DISTINCT FROM r.from_seq AND k.superseded_by IS NULL
              AND (CASE WHEN k.from_seq IS NOT NULL OR (k.memory_type = 'summary' AND k.source = 'sleep') THEN coalesce(k.thread_id, k.id) END) IS NOT DISTINCT FROM r.place LIMIT 1) t ON true
    )
    UPDATE hippocampus.memories m SET superseded_by = j.heir FROM judged j
    WHERE m.id = j.id AND m.user_id = j.user_id AND m.app_name = j.app_name;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._release_superseded IS 'Trigger: what a deleted memory or fact had superseded is superseded no longer.';
REVOKE ALL ON FUNCTION hippocampus._release_superseded FROM PUBLIC;

CREATE OR REPLACE TRIGGER facts_release AFTER DELETE ON hippocampus.facts
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._release_superseded();
CREATE OR REPLACE TRIGGER memories_release AFTER DELETE ON hippocampus.memories
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._release_superseded();
