-- Long-term memory: memories, facts, instructions and blocks, and where each came from.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE hippocampus.memories (
    created_at        timestamptz NOT NULL DEFAULT now(),
    last_accessed_at  timestamptz NOT NULL DEFAULT now(),
    occurred_from     timestamptz NOT NULL DEFAULT now(),
    occurred_until    timestamptz NOT NULL DEFAULT now(),
    forget_at         timestamptz NOT NULL DEFAULT '0001-01-02 00:00:00+00', -- Go has no infinity
    forget_policy     bigint NOT NULL DEFAULT 0,
    from_seq          bigint,
    to_seq            bigint,
    retention_score   double precision NOT NULL DEFAULT 0.2,
    initial_score     real NOT NULL DEFAULT 0.2,
    importance        real NOT NULL DEFAULT 0.5,
    running_intensity real NOT NULL DEFAULT 0.5,
    encounter_count   integer NOT NULL DEFAULT 1,
    access_count      integer NOT NULL DEFAULT 0,
    token_count       integer NOT NULL,
    token_count_exact boolean NOT NULL DEFAULT false,
    id                uuid NOT NULL DEFAULT gen_random_uuid(),
    thread_id         uuid,
    superseded_by     uuid,
    user_id           text COLLATE "C" NOT NULL,
    app_name          text COLLATE "C" NOT NULL,
    memory_type       text COLLATE "C" NOT NULL DEFAULT 'episodic',
    category          text COLLATE "C" NOT NULL DEFAULT 'other',
    source            text COLLATE "C" NOT NULL DEFAULT 'client',
    author            text COLLATE "C",
    trust             text COLLATE "C" NOT NULL DEFAULT 'user',
    visibility        text COLLATE "C" NOT NULL DEFAULT 'private',
    shared_by         text COLLATE "C",
    content           text NOT NULL,
    content_hash      bytea NOT NULL,
    tags              text[] NOT NULL DEFAULT '{}',
    metadata          jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT memories_pkey PRIMARY KEY (id, user_id, app_name),
    CONSTRAINT memories_thread_id_fkey FOREIGN KEY (thread_id, user_id, app_name)
        REFERENCES hippocampus.threads (id, user_id, app_name) ON DELETE SET NULL (thread_id),
    CONSTRAINT memories_user_id_check CHECK (octet_length(user_id) BETWEEN 1 AND 255),
    CONSTRAINT memories_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255 AND app_name <> '*'),
    CONSTRAINT memories_memory_type_check CHECK (memory_type IN ('episodic', 'semantic', 'summary')),
    CONSTRAINT memories_category_check CHECK (
        category IN ('chat', 'observation', 'task', 'decision', 'tool-use', 'error', 'insight', 'other')),
    CONSTRAINT memories_source_check CHECK (octet_length(source) BETWEEN 1 AND 255),
    CONSTRAINT memories_author_check CHECK (octet_length(author) BETWEEN 1 AND 255),
    CONSTRAINT memories_shared_by_check CHECK (octet_length(shared_by) BETWEEN 1 AND 255),
    CONSTRAINT memories_trust_check CHECK (trust IN ('operator', 'user', 'agent', 'tool')),
    CONSTRAINT memories_visibility_check CHECK (visibility IN ('private', 'app')),
    CONSTRAINT memories_content_check CHECK (octet_length(content) BETWEEN 1 AND 1048576),
    CONSTRAINT memories_content_hash_check CHECK (octet_length(content_hash) = 32),
    CONSTRAINT memories_tags_check CHECK (cardinality(tags) <= 64 AND pg_column_size(tags) <= 65536),
    CONSTRAINT memories_metadata_check CHECK (jsonb_typeof(metadata) = 'object' AND pg_column_size(metadata) <= 262144),
    CONSTRAINT memories_scores_check CHECK (
        retention_score BETWEEN 0 AND 1 AND initial_score BETWEEN 0 AND 1
        AND importance BETWEEN 0 AND 1 AND running_intensity BETWEEN 0 AND 1),
    CONSTRAINT memories_counts_check CHECK (encounter_count >= 1 AND access_count >= 0 AND token_count >= 0),
    CONSTRAINT memories_occurred_check CHECK (
        occurred_from <= occurred_until AND isfinite(occurred_from) AND isfinite(occurred_until)),
    CONSTRAINT memories_seq_check CHECK (
        (from_seq IS NULL AND to_seq IS NULL) OR from_seq BETWEEN 1 AND to_seq)
);
-- A memory of the same words is one memory. An episode is told apart by where it came from:
-- «Good morning!» said on two days is two episodes; two clusters may have one name.
CREATE UNIQUE INDEX memories_content_hash_key ON hippocampus.memories
    (user_id, app_name, memory_type, content_hash, from_seq,
     (CASE WHEN from_seq IS NOT NULL OR (memory_type = 'summary' AND source = 'sleep') THEN coalesce(thread_id, id) END)) NULLS NOT DISTINCT
    WHERE superseded_by IS NULL;
CREATE INDEX memories_occurred_idx ON hippocampus.memories (user_id, app_name, occurred_from DESC, id);
CREATE INDEX memories_lasting_idx ON hippocampus.memories (user_id, app_name, occurred_from DESC, occurred_until)
    WHERE occurred_until > occurred_from;
CREATE INDEX memories_thread_id_idx ON hippocampus.memories (thread_id, from_seq) WHERE thread_id IS NOT NULL;
-- Episodes of several events, which may overlap others: those that reach an event are found by where they end.
CREATE INDEX memories_to_seq_idx ON hippocampus.memories (thread_id, to_seq) WHERE memory_type = 'episodic' AND to_seq > from_seq;
-- The order in which retention walks through the memories, of all tenants or of one.
CREATE INDEX memories_created_at_idx ON hippocampus.memories (user_id, app_name, created_at, id);
-- By app alone: for who asks when memories fade, and for nobody else, which the condition says. Of an app that is new to the
-- statistics a planner expects one row, and would read all users' for each look at one.
CREATE INDEX memories_forget_at_idx ON hippocampus.memories (app_name, forget_policy, forget_at) WHERE forget_at IS NOT NULL;
CREATE INDEX memories_superseded_by_idx ON hippocampus.memories (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memories_token_count_exact_idx ON hippocampus.memories (created_at) WHERE NOT token_count_exact;
COMMENT ON TABLE hippocampus.memories IS
    'What was learned or lived: episodic slices, summaries, semantic memories. Decays by policy; strengthens by use.';
COMMENT ON COLUMN hippocampus.memories.retention_score IS
    'The score at the last access or refresh; a search computes it anew for its own clock.';
COMMENT ON COLUMN hippocampus.memories.forget_at IS
    'Not before this does its score fall below its policy''s threshold; predicted when it is stored, and anew when a sweep gets here. A use, which makes that later, leaves it alone: it is indexed, and a use should write no index.';
COMMENT ON COLUMN hippocampus.memories.forget_policy IS 'The policies of the app by which forget_at was predicted, as a number (_retention_hash); 0 where nothing was.';
COMMENT ON COLUMN hippocampus.memories.initial_score IS
    'What it was worth when stored: 0.2 by default, 1.0 / 0.7 / 0.4 for an insight of high / medium / low importance. See retention_policies.initial_weight.';
COMMENT ON COLUMN hippocampus.memories.content_hash IS 'SHA-256 of the content in NFKC, lower case, with white space folded.';
COMMENT ON COLUMN hippocampus.memories.from_seq IS 'First event of the thread that it tells; with to_seq, an inclusive range.';
COMMENT ON COLUMN hippocampus.memories.trust IS
    'Whose words it holds: operator, user, agent, tool; of what was drawn from several, the least. A tool''s never become an instruction.';
COMMENT ON COLUMN hippocampus.memories.token_count IS
    'Tokens of the content; an estimate, never under, until token_count_exact.';

CREATE TABLE hippocampus.facts (
    recorded_at       timestamptz NOT NULL DEFAULT now(),
    valid_from        timestamptz NOT NULL DEFAULT now(),
    valid_until       timestamptz,
    closed_at         timestamptz,
    last_accessed_at  timestamptz NOT NULL DEFAULT now(),
    confidence        double precision NOT NULL DEFAULT 1.0,
    running_intensity real NOT NULL DEFAULT 0.5,
    encounter_count   integer NOT NULL DEFAULT 1,
    access_count      integer NOT NULL DEFAULT 0,
    token_count       integer NOT NULL,
    token_count_exact boolean NOT NULL DEFAULT false,
    id                uuid NOT NULL DEFAULT gen_random_uuid(),
    thread_id         uuid,
    superseded_by     uuid,
    user_id           text COLLATE "C" NOT NULL,
    app_name          text COLLATE "C" NOT NULL,
    fact_type         text COLLATE "C" NOT NULL DEFAULT 'preference',
    key               text COLLATE "C" NOT NULL,
    trust             text COLLATE "C" NOT NULL DEFAULT 'user',
    closed_by         text COLLATE "C",
    closed_reason     text,
    value             jsonb NOT NULL,
    metadata          jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT facts_pkey PRIMARY KEY (id, user_id, app_name),
    CONSTRAINT facts_thread_id_fkey FOREIGN KEY (thread_id, user_id, app_name)
        REFERENCES hippocampus.threads (id, user_id, app_name) ON DELETE SET NULL (thread_id),
    CONSTRAINT facts_user_id_check CHECK (octet_length(user_id) BETWEEN 1 AND 255),
    CONSTRAINT facts_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255 AND app_name <> '*'),
    CONSTRAINT facts_fact_type_check CHECK (fact_type IN ('preference', 'rule', 'profile', 'custom')),
    CONSTRAINT facts_trust_check CHECK (trust IN ('operator', 'user', 'agent', 'tool') AND (fact_type <> 'rule' OR trust <> 'tool')),
    CONSTRAINT facts_key_check CHECK (octet_length(key) BETWEEN 1 AND 255),
    CONSTRAINT facts_value_check CHECK (octet_length(value::text) <= 262144),
    CONSTRAINT facts_metadata_check CHECK (jsonb_typeof(metadata) = 'object' AND pg_column_size(metadata) <= 262144),
    CONSTRAINT facts_scores_check CHECK (confidence BETWEEN 0 AND 1 AND running_intensity BETWEEN 0 AND 1),
    CONSTRAINT facts_counts_check CHECK (encounter_count >= 1 AND access_count >= 0 AND token_count >= 0),
    CONSTRAINT facts_valid_check CHECK (valid_until IS NULL OR valid_from <= valid_until),
    CONSTRAINT facts_closed_check CHECK (
        (valid_until IS NULL) = (closed_at IS NULL) AND (closed_at IS NOT NULL OR num_nonnulls(closed_by, closed_reason) = 0)),
    CONSTRAINT facts_closed_by_check CHECK (octet_length(closed_by) BETWEEN 1 AND 255),
    CONSTRAINT facts_closed_reason_check CHECK (octet_length(closed_reason) <= 4096)
);
CREATE UNIQUE INDEX facts_current_key ON hippocampus.facts (user_id, app_name, fact_type, key)
    WHERE valid_until IS NULL;
CREATE INDEX facts_valid_from_idx ON hippocampus.facts (user_id, app_name, fact_type, key, valid_from DESC);
CREATE INDEX facts_thread_id_idx ON hippocampus.facts (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX facts_superseded_by_idx ON hippocampus.facts (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX facts_token_count_exact_idx ON hippocampus.facts (recorded_at) WHERE NOT token_count_exact;
COMMENT ON TABLE hippocampus.facts IS
    'Key and value that hold for a user. One current value per (user, app, type, key); older values stay as history.';
COMMENT ON COLUMN hippocampus.facts.trust IS
    'Whose words it holds: operator, user, agent, tool; of what was drawn from several, the least. A tool''s are never a rule.';
COMMENT ON COLUMN hippocampus.facts.valid_from IS 'When it became true, as far as is known.';
COMMENT ON COLUMN hippocampus.facts.valid_until IS 'When it ceased to be true; null while it is current.';
COMMENT ON COLUMN hippocampus.facts.recorded_at IS 'When it was learned; that it began at valid_from, where that was told later.';
COMMENT ON COLUMN hippocampus.facts.closed_at IS 'When it was learned that it had ceased to be true.';
COMMENT ON COLUMN hippocampus.facts.closed_by IS
    'Who decided that: ''key'' (another value of the same key), a classifier''s name, or a client.';
COMMENT ON COLUMN hippocampus.facts.closed_reason IS
    'Why, in a sentence. Goes when the fact that took its place is forgotten, as it may tell of it.';

CREATE TABLE hippocampus.memory_sources (
    created_at timestamptz NOT NULL DEFAULT now(),
    from_seq   bigint NOT NULL,
    to_seq     bigint NOT NULL,
    id         uuid NOT NULL DEFAULT gen_random_uuid(),
    memory_id  uuid,
    fact_id    uuid,
    thread_id  uuid NOT NULL,
    job_id     uuid,
    user_id    text COLLATE "C" NOT NULL,
    app_name   text COLLATE "C" NOT NULL,
    model      text COLLATE "C",
    CONSTRAINT memory_sources_pkey PRIMARY KEY (user_id, app_name, id),
    CONSTRAINT memory_sources_memory_id_fkey FOREIGN KEY (memory_id, user_id, app_name)
        REFERENCES hippocampus.memories (id, user_id, app_name) ON DELETE CASCADE,
    CONSTRAINT memory_sources_fact_id_fkey FOREIGN KEY (fact_id, user_id, app_name)
        REFERENCES hippocampus.facts (id, user_id, app_name) ON DELETE CASCADE,
    CONSTRAINT memory_sources_thread_id_fkey FOREIGN KEY (thread_id, user_id, app_name)
        REFERENCES hippocampus.threads (id, user_id, app_name) ON DELETE CASCADE,
    CONSTRAINT memory_sources_model_check CHECK (octet_length(model) <= 255),
    CONSTRAINT memory_sources_target_check CHECK (num_nonnulls(memory_id, fact_id) = 1),
    CONSTRAINT memory_sources_seq_check CHECK (from_seq BETWEEN 1 AND to_seq)
);
CREATE INDEX memory_sources_memory_id_idx ON hippocampus.memory_sources (memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX memory_sources_fact_id_idx ON hippocampus.memory_sources (fact_id) WHERE fact_id IS NOT NULL;
CREATE INDEX memory_sources_thread_id_idx ON hippocampus.memory_sources (thread_id, from_seq);
COMMENT ON TABLE hippocampus.memory_sources IS
    'Provenance: which events of which thread a memory or a fact was drawn from, by which job and model.';

CREATE TABLE hippocampus.instructions (
    created_at        timestamptz NOT NULL DEFAULT now(),
    version           integer NOT NULL,
    restores          integer,
    token_count       integer NOT NULL,
    token_count_exact boolean NOT NULL DEFAULT false,
    app_name          text COLLATE "C" NOT NULL,
    instruction_key   text COLLATE "C" NOT NULL,
    content           text NOT NULL,
    metadata          jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT instructions_pkey PRIMARY KEY (app_name, instruction_key, version),
    CONSTRAINT instructions_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255 AND app_name <> '*'),
    CONSTRAINT instructions_instruction_key_check CHECK (octet_length(instruction_key) BETWEEN 1 AND 255),
    CONSTRAINT instructions_version_check CHECK (version >= 1),
    CONSTRAINT instructions_restores_check CHECK (restores BETWEEN 0 AND version - 1),
    CONSTRAINT instructions_content_check CHECK (octet_length(content) BETWEEN 1 AND 1048576),
    CONSTRAINT instructions_token_count_check CHECK (token_count >= 0),
    CONSTRAINT instructions_metadata_check CHECK (jsonb_typeof(metadata) = 'object' AND pg_column_size(metadata) <= 262144)
);
CREATE INDEX instructions_token_count_exact_idx ON hippocampus.instructions (created_at) WHERE NOT token_count_exact;
COMMENT ON TABLE hippocampus.instructions IS
    'Procedural memory: an app''s instructions by key. A new version never rewrites an old one; the highest is current.';

COMMENT ON COLUMN hippocampus.instructions.restores IS
    'The version whose words a rollback brought back; 0 where it withdrew the instruction: no window shows it. Null for one that was written.';

CREATE TABLE hippocampus.memory_blocks (
    created_at        timestamptz NOT NULL DEFAULT now(),
    updated_at        timestamptz NOT NULL DEFAULT now(),
    version           bigint NOT NULL DEFAULT 1,
    token_limit       integer NOT NULL DEFAULT 2000,
    token_count       integer NOT NULL,
    token_count_exact boolean NOT NULL DEFAULT false,
    user_id           text COLLATE "C" NOT NULL,
    app_name          text COLLATE "C" NOT NULL,
    key               text COLLATE "C" NOT NULL,
    value             text NOT NULL,
    CONSTRAINT memory_blocks_pkey PRIMARY KEY (user_id, app_name, key),
    CONSTRAINT memory_blocks_user_id_check CHECK (octet_length(user_id) BETWEEN 1 AND 255),
    CONSTRAINT memory_blocks_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255 AND app_name <> '*'),
    CONSTRAINT memory_blocks_key_check CHECK (octet_length(key) BETWEEN 1 AND 255),
    CONSTRAINT memory_blocks_value_check CHECK (octet_length(value) <= 1048576),
    CONSTRAINT memory_blocks_token_limit_check CHECK (token_limit BETWEEN 1 AND 200000),
    CONSTRAINT memory_blocks_token_count_check CHECK (token_count >= 0)
);
CREATE INDEX memory_blocks_token_count_exact_idx ON hippocampus.memory_blocks (updated_at) WHERE NOT token_count_exact;
COMMENT ON TABLE hippocampus.memory_blocks IS
    'Named texts that an agent edits itself and always sees: in every context window, before recalled memories.';
COMMENT ON COLUMN hippocampus.memory_blocks.token_limit IS 'How many tokens the value may have. A write that brings its exact count is refused beyond it. Without one, as from SQL, an estimate decides, that no text is over 16 bytes a token: refused is what is longer than 16 · token_limit bytes. The count that count_tokens makes later may be over the limit; the value stays, is counted as it is in every window, and the next write with a count must be within it.';
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DROP TABLE hippocampus.memory_blocks, hippocampus.instructions, hippocampus.memory_sources,
    hippocampus.facts, hippocampus.memories;
-- +goose StatementEnd
