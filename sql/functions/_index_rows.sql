-- Keeps postings and their totals for a table. A statement trigger: TG_ARGV[0] is the source's name,
-- TG_ARGV[1] the expression of the text in a row n. Runs as the writer, under the writer's policies.
-- A tenant's totals are changes to be summed; now and then a writer folds those that nobody holds.
CREATE OR REPLACE FUNCTION hippocampus._index_rows()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF TG_OP = 'DELETE' THEN
        WITH gone AS (
            DELETE FROM hippocampus.postings p USING old_rows o WHERE p.row_id = o.id
            RETURNING p.user_id, p.app_name, p.row_id, p.tf
        )
        INSERT INTO hippocampus.posting_totals (rows, terms, user_id, app_name, source)
        SELECT -count(DISTINCT g.row_id), -sum(g.tf), g.user_id, g.app_name, TG_ARGV[0]
        FROM gone g GROUP BY g.user_id, g.app_name;
        RETURN NULL;
    END IF;
    EXECUTE format($sql$
        WITH config AS (
            SELECT a.app_name, (hippocampus._setting(a.app_name, 'text_search_config') #>> '{}')::regconfig AS name
            FROM (SELECT DISTINCT n.app_name FROM new_rows n) a
        ), indexed AS (
            INSERT INTO hippocampus.postings (tf, length, row_id, user_id, app_name, source, term)
            SELECT t.tf, sum(t.tf) OVER (PARTITION BY n.id), n.id, n.user_id, n.app_name, %1$L, t.term
            FROM new_rows n
            JOIN config c ON c.app_name = n.app_name
            CROSS JOIN LATERAL hippocampus._text_terms(%2$s, c.name) t
            RETURNING user_id, app_name, row_id, tf
        )
        INSERT INTO hippocampus.posting_totals (rows, terms, user_id, app_name, source)
        SELECT count(DISTINCT i.row_id), sum(i.tf), i.user_id, i.app_name, %1$L
        FROM indexed i GROUP BY i.user_id, i.app_name
        $sql$, TG_ARGV[0], TG_ARGV[1]);
    IF random() < 0.02 THEN
        WITH held AS (
            SELECT t.id FROM hippocampus.posting_totals t
            WHERE (t.user_id, t.app_name) = (SELECT n.user_id, n.app_name FROM new_rows n LIMIT 1)
              AND t.source = TG_ARGV[0]
            FOR UPDATE SKIP LOCKED
        ), folded AS (
            DELETE FROM hippocampus.posting_totals t USING held h WHERE t.id = h.id
            RETURNING t.rows, t.terms, t.user_id, t.app_name, t.source
        )
        INSERT INTO hippocampus.posting_totals (rows, terms, user_id, app_name, source)
        SELECT sum(f.rows), sum(f.terms), f.user_id, f.app_name, f.source
        FROM folded f GROUP BY f.user_id, f.app_name, f.source;
    END IF;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._index_rows IS 'Trigger: keeps the index of words for events, memories and facts.';
REVOKE ALL ON FUNCTION hippocampus._index_rows FROM PUBLIC;

CREATE OR REPLACE TRIGGER events_index_insert AFTER INSERT ON hippocampus.events
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
    EXECUTE FUNCTION hippocampus._index_rows('event', 'n.text');
CREATE OR REPLACE TRIGGER events_index_delete AFTER DELETE ON hippocampus.events
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
    EXECUTE FUNCTION hippocampus._index_rows('event', 'n.text');
CREATE OR REPLACE TRIGGER memories_index_insert AFTER INSERT ON hippocampus.memories
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
    EXECUTE FUNCTION hippocampus._index_rows('memory', 'n.content');
CREATE OR REPLACE TRIGGER memories_index_delete AFTER DELETE ON hippocampus.memories
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
    EXECUTE FUNCTION hippocampus._index_rows('memory', 'n.content');
CREATE OR REPLACE TRIGGER facts_index_insert AFTER INSERT ON hippocampus.facts
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
    EXECUTE FUNCTION hippocampus._index_rows('fact', 'hippocampus._fact_text(n.key, n.value)');
CREATE OR REPLACE TRIGGER facts_index_delete AFTER DELETE ON hippocampus.facts
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
    EXECUTE FUNCTION hippocampus._index_rows('fact', 'n.key');
