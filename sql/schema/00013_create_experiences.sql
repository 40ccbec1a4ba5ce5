-- Learning: what was lived and is worth keeping, the policy that says so, lessons, skills and notes.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE hippocampus.learning_policies (
    updated_at    timestamptz NOT NULL DEFAULT now(),
    lesson_gain   double precision NOT NULL DEFAULT 0.3,
    lesson_loss   double precision NOT NULL DEFAULT 0.5,
    lesson_floor  double precision NOT NULL DEFAULT 0.2,
    min_retries   integer NOT NULL DEFAULT 1,
    min_steps     integer NOT NULL DEFAULT 2,
    promote_after integer,
    harvest       boolean NOT NULL DEFAULT true,
    app_name      text COLLATE "C" NOT NULL DEFAULT '*',
    outcomes      text[] NOT NULL DEFAULT '{success}',
    CONSTRAINT learning_policies_pkey PRIMARY KEY (app_name),
    CONSTRAINT learning_policies_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255),
    CONSTRAINT learning_policies_lesson_check CHECK (
        lesson_gain BETWEEN 0 AND 1 AND lesson_loss BETWEEN 0 AND 1 AND lesson_floor BETWEEN 0 AND 1),
    CONSTRAINT learning_policies_min_retries_check CHECK (min_retries >= 1),
    CONSTRAINT learning_policies_min_steps_check CHECK (min_steps >= 1),
    CONSTRAINT learning_policies_promote_after_check CHECK (promote_after >= 1),
    CONSTRAINT learning_policies_outcomes_check CHECK (outcomes <@ ARRAY['success', 'partial', 'failure'])
);
INSERT INTO hippocampus.learning_policies DEFAULT VALUES;
COMMENT ON TABLE hippocampus.learning_policies IS
    'Which experiences are kept, and how lessons gain and lose confidence. The row of an app holds, else that of ''*''.';
COMMENT ON COLUMN hippocampus.learning_policies.min_retries IS
    'Retries from which an experience is kept as retry_recovery: what was learned from a failure.';
COMMENT ON COLUMN hippocampus.learning_policies.min_steps IS
    'Steps from which an experience is kept as complex_execution; what has fewer teaches nothing.';
COMMENT ON COLUMN hippocampus.learning_policies.outcomes IS 'Outcomes that are kept at all: success, partial, failure.';
COMMENT ON COLUMN hippocampus.learning_policies.lesson_gain IS
    'What a lesson confirmed gains: this share, times the confirmation''s confidence, of what its own lacks to 1.';
COMMENT ON COLUMN hippocampus.learning_policies.lesson_loss IS
    'What a lesson contradicted loses: this share, times the contradiction''s confidence, of its own.';
COMMENT ON COLUMN hippocampus.learning_policies.lesson_floor IS 'A lesson whose confidence falls below it no longer holds.';
COMMENT ON COLUMN hippocampus.learning_policies.harvest IS
    'Whether the worker reads the app''s conversations for corrections and for tasks of several steps. Each time costs a call of the model.';
COMMENT ON COLUMN hippocampus.learning_policies.promote_after IS
    'How often an experience must have been lived before the worker makes it an instruction of the app, which all of its users see; null: never, only a person does.';

CREATE TABLE hippocampus.experiences (
    recorded_at         timestamptz NOT NULL DEFAULT now(),
    steps               integer NOT NULL,
    retries             integer NOT NULL DEFAULT 0,
    instruction_version integer,
    memory_id           uuid NOT NULL,
    user_id             text COLLATE "C" NOT NULL,
    app_name            text COLLATE "C" NOT NULL,
    outcome             text COLLATE "C" NOT NULL DEFAULT 'success',
    instruction_key     text COLLATE "C",
    task                text NOT NULL,
    insight             text,
    trajectory          jsonb NOT NULL DEFAULT '[]',
    CONSTRAINT experiences_pkey PRIMARY KEY (memory_id, user_id, app_name),
    CONSTRAINT experiences_memory_id_fkey FOREIGN KEY (memory_id, user_id, app_name)
        REFERENCES hippocampus.memory_roles (memory_id, user_id, app_name) ON DELETE CASCADE,
    CONSTRAINT experiences_outcome_check CHECK (outcome IN ('success', 'partial', 'failure')),
    CONSTRAINT experiences_counts_check CHECK (steps >= 0 AND retries >= 0),
    CONSTRAINT experiences_task_check CHECK (octet_length(task) BETWEEN 1 AND 65536),
    CONSTRAINT experiences_insight_check CHECK (octet_length(insight) BETWEEN 1 AND 65536),
    CONSTRAINT experiences_trajectory_check CHECK (
        jsonb_typeof(trajectory) = 'array' AND pg_column_size(trajectory) <= 262144),
    CONSTRAINT experiences_instruction_check CHECK (
        num_nonnulls(instruction_key, instruction_version) IN (0, 2) AND instruction_version >= 1)
);
COMMENT ON TABLE hippocampus.experiences IS
    'Tasks that were done and taught something: the structured side of a memory, and the candidates for instructions. Goes with its memory.';
COMMENT ON COLUMN hippocampus.experiences.trajectory IS 'The steps, in order: strings or objects.';
COMMENT ON COLUMN hippocampus.experiences.instruction_key IS
    'The instruction that promote_experience made of it, with instruction_version.';

CREATE TABLE hippocampus.experience_skips (
    skipped_at timestamptz NOT NULL DEFAULT now(),
    skipped    bigint NOT NULL DEFAULT 1,
    user_id    text COLLATE "C" NOT NULL,
    app_name   text COLLATE "C" NOT NULL,
    reason     text COLLATE "C" NOT NULL,
    CONSTRAINT experience_skips_pkey PRIMARY KEY (user_id, app_name, reason),
    CONSTRAINT experience_skips_user_id_check CHECK (octet_length(user_id) BETWEEN 1 AND 255),
    CONSTRAINT experience_skips_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255 AND app_name <> '*'),
    CONSTRAINT experience_skips_reason_check CHECK (reason IN ('no_learning_value', 'partial', 'failure')),
    CONSTRAINT experience_skips_skipped_check CHECK (skipped >= 1)
);
COMMENT ON TABLE hippocampus.experience_skips IS 'How many experiences the policy did not keep, by reason. Holds no content.';
COMMENT ON COLUMN hippocampus.experience_skips.skipped_at IS 'When the last one was.';

CREATE TABLE hippocampus.named_memories (
    stored_at timestamptz NOT NULL DEFAULT now(),
    memory_id uuid NOT NULL,
    user_id   text COLLATE "C" NOT NULL,
    app_name  text COLLATE "C" NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    category  text COLLATE "C" NOT NULL DEFAULT '',
    name      text COLLATE "C" NOT NULL,
    given     bytea NOT NULL,
    CONSTRAINT named_memories_pkey PRIMARY KEY (user_id, app_name, kind, category, name),
    CONSTRAINT named_memories_memory_id_fkey FOREIGN KEY (memory_id, user_id, app_name)
        REFERENCES hippocampus.memory_roles (memory_id, user_id, app_name) ON DELETE CASCADE,
    CONSTRAINT named_memories_kind_check CHECK (kind IN ('skill', 'note')),
    CONSTRAINT named_memories_category_check CHECK (octet_length(category) <= 255),
    CONSTRAINT named_memories_name_check CHECK (octet_length(name) BETWEEN 1 AND 255)
);
CREATE INDEX named_memories_memory_id_idx ON hippocampus.named_memories (memory_id);
COMMENT ON TABLE hippocampus.named_memories IS
    'Memories that have a name and are replaced under it: the manifests of skills, and the notes of a knowledge base.';
COMMENT ON COLUMN hippocampus.named_memories.given IS
    'SHA-256 of the text, tags, metadata and trust that were given, to know the same again: a sleep may have added labels since.';

CREATE TABLE hippocampus.harvests (
    found_at      timestamptz,
    harvested_at  timestamptz,
    harvested_seq bigint NOT NULL DEFAULT 0,
    attempts      integer NOT NULL DEFAULT 0,
    thread_id     uuid NOT NULL,
    user_id       text COLLATE "C" NOT NULL,
    app_name      text COLLATE "C" NOT NULL,
    error         text,
    CONSTRAINT harvests_pkey PRIMARY KEY (thread_id, user_id, app_name),
    CONSTRAINT harvests_thread_id_fkey FOREIGN KEY (thread_id, user_id, app_name)
        REFERENCES hippocampus.threads (id, user_id, app_name) ON DELETE CASCADE,
    CONSTRAINT harvests_harvested_seq_check CHECK (harvested_seq >= 0),
    CONSTRAINT harvests_attempts_check CHECK (attempts >= 0),
    CONSTRAINT harvests_error_check CHECK (octet_length(error) <= 4096)
);
CREATE INDEX harvests_found_at_idx ON hippocampus.harvests (found_at) WHERE found_at IS NOT NULL;
COMMENT ON TABLE hippocampus.harvests IS
    'How far the harvester has read a thread, and whether something in it may be worth reading. A thread without a row has shown nothing.';
COMMENT ON COLUMN hippocampus.harvests.found_at IS
    'When the first event that the harvester has not read, and that looks like a correction or a step of a task, was appended; later where it is to be tried again. Null: nothing to read.';
COMMENT ON COLUMN hippocampus.harvests.error IS 'Why the last attempt failed; null since it succeeded.';

DO $policies$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['experiences', 'experience_skips', 'named_memories', 'harvests', 'learning_policies'] LOOP
        EXECUTE format('ALTER TABLE hippocampus.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format('ALTER TABLE hippocampus.%I FORCE ROW LEVEL SECURITY', v_table);
        EXECUTE format('CREATE POLICY %I ON hippocampus.%I TO hippocampus_owner, hippocampus_service, '
                       'hippocampus_worker USING (true) WITH CHECK (true)', v_table || '_trusted', v_table);
        EXECUTE format('CREATE POLICY %I ON hippocampus.%I TO hippocampus_tenant, hippocampus_reader USING (%s)',
                       v_table || '_bound', v_table, CASE WHEN v_table = 'learning_policies'
                THEN $$app_name = '*' OR app_name = current_setting('hippocampus.app_name', true)$$
                ELSE $$user_id = current_setting('hippocampus.user_id', true) AND app_name = current_setting('hippocampus.app_name', true)$$ END);
    END LOOP;
END
$policies$;
GRANT SELECT ON hippocampus.experiences, hippocampus.experience_skips, hippocampus.named_memories, hippocampus.harvests,
    hippocampus.learning_policies TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
GRANT INSERT, UPDATE, DELETE ON hippocampus.learning_policies TO hippocampus_service, hippocampus_worker;
-- Which instruction came of an experience is not the tenant's to say: see _forget_instruction.
GRANT INSERT (recorded_at, steps, retries, memory_id, user_id, app_name, outcome, task, insight, trajectory),
    UPDATE (recorded_at, steps, retries, outcome, insight, trajectory), DELETE ON hippocampus.experiences TO hippocampus_tenant;
GRANT INSERT, UPDATE, DELETE ON hippocampus.experiences TO hippocampus_service, hippocampus_worker;
GRANT INSERT, UPDATE, DELETE ON hippocampus.experience_skips, hippocampus.named_memories
    TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
-- A tenant's appends say that there is something to read; how far it was read is the worker's.
GRANT INSERT (found_at, thread_id, user_id, app_name), UPDATE (found_at) ON hippocampus.harvests TO hippocampus_tenant;
GRANT INSERT, UPDATE, DELETE ON hippocampus.harvests TO hippocampus_service, hippocampus_worker;

CREATE VIEW hippocampus.experience_decisions WITH (security_invoker = true) AS
SELECT true::boolean AS stored, m.superseded_by AS memory_id, ''::text AS reason, m.tags
FROM hippocampus.memories m WHERE false;
COMMENT ON VIEW hippocampus.experience_decisions IS
    'What record_experience returns: whether it was kept, as which memory, why or why not, and its tags.';

CREATE VIEW hippocampus.lessons WITH (security_invoker = true) AS
SELECT f.id, coalesce(f.value #>> '{}', '')::text AS rule, coalesce(f.metadata ->> 'domain', '')::text AS domain, f.confidence,
    coalesce(f.metadata ->> 'source', '')::text AS source, f.key, f.encounter_count, f.trust, f.valid_from, f.recorded_at, f.user_id, f.app_name
FROM hippocampus.facts f WHERE f.fact_type = 'rule' AND f.valid_until IS NULL AND f.metadata ? 'domain';
COMMENT ON VIEW hippocampus.lessons IS
    'The lessons that hold: facts of type rule that record_lesson wrote. What they replaced stands in facts, as history.';

CREATE VIEW hippocampus.recall_blocks WITH (security_invoker = true) AS
SELECT ''::text AS content, 0::integer AS token_count, ''::text AS name, 0::integer AS priority, '{}'::uuid[] AS memory_ids,
    '{}'::uuid[] AS lesson_ids, '{}'::uuid[] AS chunk_ids;
COMMENT ON VIEW hippocampus.recall_blocks IS
    'What recall_block returns: the block, its tokens at most, its name and priority among a prompt''s parts, and the memories, lessons and chunks in it.';

CREATE VIEW hippocampus.learning_statistics WITH (security_invoker = true) AS
SELECT 0::bigint AS experiences, 0::bigint AS retry_recovery, 0::bigint AS complex_execution, 0::bigint AS promoted,
    0::bigint AS skipped_no_learning_value, 0::bigint AS skipped_partial, 0::bigint AS skipped_failure,
    0::bigint AS lessons, 0::bigint AS skills, 0::bigint AS notes, 0::bigint AS harvests_due;
COMMENT ON VIEW hippocampus.learning_statistics IS 'What learning_stats returns.';
GRANT SELECT ON hippocampus.experience_decisions, hippocampus.lessons, hippocampus.recall_blocks, hippocampus.learning_statistics
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DROP VIEW hippocampus.experience_decisions, hippocampus.lessons, hippocampus.recall_blocks, hippocampus.learning_statistics;
DROP TABLE hippocampus.experiences, hippocampus.experience_skips, hippocampus.named_memories, hippocampus.harvests,
    hippocampus.learning_policies;
-- +goose StatementEnd
