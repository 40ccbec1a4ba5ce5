-- An event that is passed over leaves the index of words, and with erased its own text and content, too; the
-- conversation's jobs lose what they kept of replies and errors, which may quote it. A River job that runs, or
-- is just being fetched, keeps its own: it is about to end.
-- SECURITY DEFINER because of the log a tenant appends only, and of River it has no rights; a trigger cannot be
-- called, and the row that fires it is under the tenant's policy.
CREATE OR REPLACE FUNCTION hippocampus._forget_events()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._note_unindexed('event', ARRAY[e.id], ARRAY[e.user_id], ARRAY[e.app_name]) FROM hippocampus.events e
    WHERE e.thread_id = NEW.thread_id AND e.sequence_num = NEW.sequence_num AND e.user_id = NEW.user_id AND e.app_name = NEW.app_name
      AND EXISTS (SELECT FROM hippocampus.row_terms r WHERE r.row_id = e.id AND r.user_id = e.user_id AND r.app_name = e.app_name);
    IF NEW.erased THEN
        UPDATE hippocampus.events e
        SET text = '', content = '{}', tags = '{}', metadata = '{}', token_count_exact = false,
            token_count = hippocampus.estimate_tokens(e.author || ': ')
        WHERE e.thread_id = NEW.thread_id AND e.sequence_num = NEW.sequence_num AND e.user_id = NEW.user_id AND e.app_name = NEW.app_name;
    END IF;
    WITH held AS (
        SELECT r.id FROM hippocampus.river_job r
        JOIN hippocampus.consolidation_jobs j ON j.river_job_id = r.id
        WHERE j.thread_id = NEW.thread_id AND j.user_id = NEW.user_id AND j.app_name = NEW.app_name
          AND r.state <> 'running' AND r.errors IS NOT NULL
        FOR UPDATE OF r SKIP LOCKED)
    UPDATE hippocampus.river_job r SET errors = NULL FROM held h WHERE r.id = h.id;
    UPDATE hippocampus.consolidation_jobs j
    SET raw_reply = NULL, error = CASE WHEN j.error IS NOT NULL THEN 'removed: something of the conversation was forgotten' END
    WHERE j.thread_id = NEW.thread_id AND j.user_id = NEW.user_id AND j.app_name = NEW.app_name
      AND num_nonnulls(j.raw_reply, j.error) > 0;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._forget_events IS 'Trigger: takes a forgotten event out of search and, where asked, empties it.';
REVOKE ALL ON FUNCTION hippocampus._forget_events FROM PUBLIC;

CREATE OR REPLACE TRIGGER forgotten_events_forget AFTER INSERT OR UPDATE ON hippocampus.forgotten_events
    FOR EACH ROW EXECUTE FUNCTION hippocampus._forget_events();
