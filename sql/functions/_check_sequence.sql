-- Holds the log's promise for every writer, append_events or not: a thread's sequence numbers have no gap
-- and end one before its next_seq. Costs one index look-up a thread and statement.
CREATE OR REPLACE FUNCTION hippocampus._check_sequence()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_bad record;
BEGIN
    SELECT n.thread_id, n.first_seq, n.last_seq, t.next_seq INTO v_bad
    FROM (SELECT r.thread_id, r.user_id, r.app_name, min(r.sequence_num) AS first_seq, min(r.sequence_num) - 1 AS seq_before,
              max(r.sequence_num) AS last_seq, count(*) AS rows
          FROM new_rows r GROUP BY r.thread_id, r.user_id, r.app_name) n
    JOIN hippocampus.threads t ON t.id = n.thread_id AND t.user_id = n.user_id AND t.app_name = n.app_name
    WHERE n.last_seq <> t.next_seq - 1
       OR n.last_seq - n.first_seq + 1 <> n.rows
       OR (n.first_seq > 1 AND n.seq_before IS DISTINCT FROM (
              -- by its order, which the key alone has: another index would read all that the user ever said
              SELECT e.sequence_num FROM hippocampus.events e
              WHERE e.thread_id = n.thread_id AND e.user_id = n.user_id AND e.app_name = n.app_name
                AND e.sequence_num >= n.seq_before
              ORDER BY e.sequence_num LIMIT 1))
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'events % to % of thread % leave a gap: the thread''s next number is %',
                v_bad.first_seq, v_bad.last_seq, v_bad.thread_id, v_bad.next_seq
            USING ERRCODE = 'HC013', HINT = 'Append through append_event or append_events, which number events under the thread''s lock.';
    END IF;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_sequence IS 'Trigger: raises HC013 where inserted events would leave a gap in their thread.';
REVOKE ALL ON FUNCTION hippocampus._check_sequence FROM PUBLIC;

CREATE OR REPLACE TRIGGER events_sequence AFTER INSERT ON hippocampus.events
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._check_sequence();
