-- What is indexed and counted does not change under the index: a new text is a new row.
CREATE OR REPLACE FUNCTION hippocampus._refuse_update()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RAISE EXCEPTION 'the % of %.% cannot change', array_to_string(TG_ARGV, ', '), TG_TABLE_SCHEMA, TG_TABLE_NAME
        USING ERRCODE = 'HC009', HINT = 'Write a new row (remember, upsert_fact, append_event); delete or supersede the old one.';
END
$fn$;
COMMENT ON FUNCTION hippocampus._refuse_update IS 'Trigger: refuses an update of a column whose value is indexed elsewhere.';
REVOKE ALL ON FUNCTION hippocampus._refuse_update FROM PUBLIC;

CREATE OR REPLACE TRIGGER events_frozen BEFORE UPDATE OF id, thread_id, sequence_num, user_id, app_name, text, content
    ON hippocampus.events FOR EACH ROW -- but what is forgotten is emptied
    WHEN ((NEW.id, NEW.thread_id, NEW.sequence_num, NEW.user_id, NEW.app_name)
            IS DISTINCT FROM (OLD.id, OLD.thread_id, OLD.sequence_num, OLD.user_id, OLD.app_name)
        OR NEW.text <> '' OR NEW.content <> '{}')
    EXECUTE FUNCTION hippocampus._refuse_update('identity', 'sequence', 'text');
CREATE OR REPLACE TRIGGER memories_frozen BEFORE UPDATE OF id, user_id, app_name, content, content_hash, memory_type,
        occurred_from, from_seq
    ON hippocampus.memories FOR EACH ROW EXECUTE FUNCTION hippocampus._refuse_update('identity', 'content', 'type', 'origin');
-- One that another conversation tells too no longer belongs to the first: it may lose its thread, not change it.
CREATE OR REPLACE TRIGGER memories_frozen_thread BEFORE UPDATE OF thread_id ON hippocampus.memories
    FOR EACH ROW WHEN (NEW.thread_id IS NOT NULL AND NEW.thread_id IS DISTINCT FROM OLD.thread_id)
    EXECUTE FUNCTION hippocampus._refuse_update('thread');
CREATE OR REPLACE TRIGGER facts_frozen BEFORE UPDATE OF id, user_id, app_name, fact_type, key, value
    ON hippocampus.facts FOR EACH ROW EXECUTE FUNCTION hippocampus._refuse_update('identity', 'key', 'value');
