-- Wakes the job that works off a queue: TG_ARGV[0] is its kind. One such job waits at a time, for all
-- tenants. A writer never waits for another here: who does not get the lock knows that a job is being
-- enqueued, and should that one start too early, the worker's periodic sweep finds the rest.
-- In REPEATABLE READ and above, a job that another tenant enqueued since the snapshot cannot be seen and would
-- fail this writer; but it is the very job that is wanted.
-- SECURITY DEFINER because a tenant has no rights on River's tables; a trigger cannot be called.
CREATE OR REPLACE FUNCTION hippocampus._wake_sweeper()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_kind text := TG_ARGV[0];
    v_queues text[] := ARRAY['sweep'];
    v_queue text;
    v_key bytea;
    v_inserted bigint;
BEGIN
    IF v_kind = 'count_tokens' THEN -- an IF of its own: embedding_queue has no such column
        IF NOT EXISTS (SELECT FROM new_rows n WHERE NOT n.token_count_exact) THEN
            RETURN NULL;
        END IF;
    ELSE -- a generation has a queue of its own, which workers with its model take from
        v_queues := ARRAY(SELECT DISTINCT 'embed_' || n.generation FROM new_rows n);
    END IF;
    FOREACH v_queue IN ARRAY v_queues LOOP
        v_key := sha256(convert_to('sweep ' || v_kind || ' ' || v_queue, 'UTF8'));
        CONTINUE WHEN EXISTS ( -- it waits already, as mostly where much is written
            SELECT FROM hippocampus.river_job j WHERE j.unique_key = v_key AND j.unique_states IS NOT NULL
                AND hippocampus.river_job_state_in_bitmask(j.unique_states, j.state));
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(hashtextextended('hippocampus.sweep.' || v_kind || v_queue, 0));
        BEGIN
            INSERT INTO hippocampus.river_job (kind, args, queue, max_attempts, unique_key, unique_states)
            VALUES (v_kind, CASE v_queue WHEN 'sweep' THEN '{}'::jsonb
                    ELSE jsonb_build_object('generation', substr(v_queue, 7)::integer) END,
                v_queue, 25, v_key, B'00000001')
            ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL AND unique_states IS NOT NULL
                AND hippocampus.river_job_state_in_bitmask(unique_states, state)
            DO NOTHING
            RETURNING id INTO v_inserted;
        EXCEPTION WHEN serialization_failure THEN
            CONTINUE;
        END;
        IF v_inserted IS NOT NULL THEN
            PERFORM pg_notify('hippocampus.river_insert', json_build_object('queue', v_queue)::text);
        END IF;
    END LOOP;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._wake_sweeper IS 'Trigger: enqueues the job that embeds, or counts tokens of, the rows just written.';
REVOKE ALL ON FUNCTION hippocampus._wake_sweeper FROM PUBLIC;

CREATE OR REPLACE TRIGGER embedding_queue_wake AFTER INSERT ON hippocampus.embedding_queue
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._wake_sweeper('embed');
CREATE OR REPLACE TRIGGER events_wake AFTER INSERT ON hippocampus.events
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._wake_sweeper('count_tokens');
CREATE OR REPLACE TRIGGER memories_wake AFTER INSERT ON hippocampus.memories
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._wake_sweeper('count_tokens');
CREATE OR REPLACE TRIGGER facts_wake AFTER INSERT ON hippocampus.facts
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._wake_sweeper('count_tokens');
CREATE OR REPLACE TRIGGER instructions_wake AFTER INSERT ON hippocampus.instructions
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._wake_sweeper('count_tokens');
CREATE OR REPLACE TRIGGER memory_blocks_wake AFTER INSERT ON hippocampus.memory_blocks
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._wake_sweeper('count_tokens');
CREATE OR REPLACE TRIGGER memory_blocks_wake_update AFTER UPDATE ON hippocampus.memory_blocks
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._wake_sweeper('count_tokens');
