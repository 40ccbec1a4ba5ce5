-- Keeps the index of words for a table. A statement trigger: TG_ARGV[0] is the source's name. Runs as the writer,
-- under the writer's policies.
CREATE OR REPLACE FUNCTION hippocampus._index_rows()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF NOT hippocampus._user_goes() THEN
            PERFORM hippocampus._unindex_terms(TG_ARGV[0], array_agg(o.id), array_agg(o.user_id), array_agg(o.app_name))
            FROM old_rows o;
        END IF;
        RETURN NULL;
    END IF;
    -- a branch a source, with a plan of its own that the session keeps
    CASE TG_ARGV[0]
        WHEN 'event' THEN
            PERFORM hippocampus._index_terms('event', array_agg(n.id), array_agg(n.user_id), array_agg(n.app_name),
                array_agg(n.text), array_agg(n.thread_id), array_agg(n.sequence_num), array_agg(hippocampus._only_asks(n.text))) FROM new_rows n;
        WHEN 'memory' THEN
            -- an episode stands in the log; a summary has no one place there
            PERFORM hippocampus._index_terms('memory', array_agg(n.id), array_agg(n.user_id), array_agg(n.app_name),
                array_agg(hippocampus._memory_words(n.memory_type, n.content, n.occurred_from)), array_agg(n.thread_id),
                array_agg(CASE n.memory_type WHEN 'episodic' THEN n.from_seq END),
                array_agg(n.memory_type = 'episodic' AND hippocampus._only_asks(n.content))) FROM new_rows n;
        WHEN 'fact' THEN
            PERFORM hippocampus._index_terms('fact', array_agg(n.id), array_agg(n.user_id), array_agg(n.app_name),
                array_agg(hippocampus._fact_text(n.key, n.value)), array_agg(n.thread_id), array_agg(NULL::bigint), array_agg(false)) FROM new_rows n;
        WHEN 'store' THEN
            PERFORM hippocampus._index_terms('store', array_agg(n.id), array_agg(n.user_id), array_agg(n.app_name),
                array_agg(n.text), array_agg(NULL::uuid), array_agg(NULL::bigint), array_agg(false)) FROM new_rows n;
        WHEN 'chunk' THEN -- neighbours in a document are told apart by their headings: each stands for itself
            PERFORM hippocampus._index_terms('chunk', array_agg(n.id), array_agg(n.user_id), array_agg(n.app_name),
                array_agg(n.heading || E'\n' || n.content), array_agg(NULL::uuid), array_agg(NULL::bigint), array_agg(false)) FROM new_rows n;
    END CASE;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._index_rows IS 'Trigger: keeps the index of words for events, memories, facts, chunks and the store.';
REVOKE ALL ON FUNCTION hippocampus._index_rows FROM PUBLIC;

CREATE OR REPLACE TRIGGER events_index_insert AFTER INSERT ON hippocampus.events
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
    EXECUTE FUNCTION hippocampus._index_rows('event');
CREATE OR REPLACE TRIGGER events_index_delete AFTER DELETE ON hippocampus.events
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
    EXECUTE FUNCTION hippocampus._index_rows('event');
CREATE OR REPLACE TRIGGER memories_index_insert AFTER INSERT ON hippocampus.memories
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
    EXECUTE FUNCTION hippocampus._index_rows('memory');
CREATE OR REPLACE TRIGGER memories_index_delete AFTER DELETE ON hippocampus.memories
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
    EXECUTE FUNCTION hippocampus._index_rows('memory');
CREATE OR REPLACE TRIGGER facts_index_insert AFTER INSERT ON hippocampus.facts
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
    EXECUTE FUNCTION hippocampus._index_rows('fact');
CREATE OR REPLACE TRIGGER facts_index_delete AFTER DELETE ON hippocampus.facts
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
    EXECUTE FUNCTION hippocampus._index_rows('fact');
CREATE OR REPLACE TRIGGER store_items_index_insert AFTER INSERT ON hippocampus.store_items
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
    EXECUTE FUNCTION hippocampus._index_rows('store');
CREATE OR REPLACE TRIGGER store_items_index_delete AFTER DELETE ON hippocampus.store_items
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
    EXECUTE FUNCTION hippocampus._index_rows('store');
CREATE OR REPLACE TRIGGER chunks_index_insert AFTER INSERT ON hippocampus.chunks
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
    EXECUTE FUNCTION hippocampus._index_rows('chunk');
CREATE OR REPLACE TRIGGER chunks_index_delete AFTER DELETE ON hippocampus.chunks
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
    EXECUTE FUNCTION hippocampus._index_rows('chunk');
