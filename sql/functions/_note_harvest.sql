-- Notes that a thread has something for the harvester: a correction by a person, or a step of a task.
CREATE OR REPLACE FUNCTION hippocampus._note_harvest()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    INSERT INTO hippocampus.harvests AS h (found_at, thread_id, user_id, app_name)
    SELECT DISTINCT now(), n.thread_id, n.user_id, n.app_name FROM new_rows n
    WHERE n.category IN ('task', 'decision', 'tool-use', 'error')
       OR hippocampus._is_correction(n.text) AND hippocampus._trust(n.author, n.event_type, n.category, n.content) IN ('user', 'operator')
    ON CONFLICT (thread_id, user_id, app_name) DO UPDATE SET found_at = excluded.found_at WHERE h.found_at IS NULL;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._note_harvest IS 'Trigger: notes the threads whose new events the harvester should read.';
REVOKE ALL ON FUNCTION hippocampus._note_harvest FROM PUBLIC;

CREATE OR REPLACE TRIGGER events_harvest AFTER INSERT ON hippocampus.events
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._note_harvest();
