-- Puts new rows on the embedding queue, once for each generation that is kept current, unless their vector came
-- first (remember and upsert_fact write it before the row, for this reason). Anchors of the generation that their
-- rebuild lists by are not queued: it embeds them itself.
CREATE OR REPLACE FUNCTION hippocampus._queue_embeddings()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    INSERT INTO hippocampus.embedding_queue (row_id, user_id, app_name, source, generation)
    SELECT n.id, n.user_id, n.app_name, TG_ARGV[0], g.generation
    FROM new_rows n CROSS JOIN hippocampus.embedding_models g
    WHERE g.status <> 'retired' AND NOT EXISTS (
        SELECT FROM hippocampus.embeddings e
        WHERE e.row_id = n.id AND e.user_id = n.user_id AND e.app_name = n.app_name AND e.source = TG_ARGV[0]
          AND e.generation = g.generation)
      AND (TG_ARGV[0] <> 'anchor' OR g.generation <> (SELECT o.generation FROM hippocampus._query_generation(NULL) o));
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._queue_embeddings IS 'Trigger: queues rows for the vectors that they do not have yet.';
REVOKE ALL ON FUNCTION hippocampus._queue_embeddings FROM PUBLIC;

CREATE OR REPLACE TRIGGER memories_queue AFTER INSERT ON hippocampus.memories
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._queue_embeddings('memory');
CREATE OR REPLACE TRIGGER facts_queue AFTER INSERT ON hippocampus.facts
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._queue_embeddings('fact');
CREATE OR REPLACE TRIGGER store_items_queue AFTER INSERT ON hippocampus.store_items
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._queue_embeddings('store');
CREATE OR REPLACE TRIGGER chunks_queue AFTER INSERT ON hippocampus.chunks
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._queue_embeddings('chunk');
CREATE OR REPLACE TRIGGER anchors_queue AFTER INSERT ON hippocampus.anchors
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._queue_embeddings('anchor');
