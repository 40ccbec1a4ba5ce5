-- The session log: threads and their events, and the state that outlives a thread.
-- The tenant (user_id, app_name) is part of every key, so that any table can be distributed by user_id.
-- Identifiers compare by byte (COLLATE "C"): faster than a language's order, and the same on every machine.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE hippocampus.threads (
    created_at       timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now(),
    version          bigint NOT NULL DEFAULT 1,
    next_seq         bigint NOT NULL DEFAULT 1,
    replayed_seq     bigint NOT NULL DEFAULT 0,
    reflected_seq    bigint NOT NULL DEFAULT 0,
    forgettings      bigint NOT NULL DEFAULT 0,
    number           bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    id               uuid NOT NULL DEFAULT gen_random_uuid(),
    user_id          text COLLATE "C" NOT NULL,
    app_name         text COLLATE "C" NOT NULL,
    session_id       text COLLATE "C" NOT NULL,
    state            jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT threads_pkey PRIMARY KEY (id, user_id, app_name),
    CONSTRAINT threads_number_key UNIQUE (number, user_id, app_name),
    CONSTRAINT threads_session_id_key UNIQUE (user_id, app_name, session_id),
    CONSTRAINT threads_user_id_check CHECK (octet_length(user_id) BETWEEN 1 AND 255),
    CONSTRAINT threads_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255 AND app_name <> '*'),
    CONSTRAINT threads_session_id_check CHECK (octet_length(session_id) BETWEEN 1 AND 255),
    CONSTRAINT threads_state_check CHECK (jsonb_typeof(state) = 'object' AND pg_column_size(state) <= 1048576),
    CONSTRAINT threads_next_seq_check CHECK (next_seq BETWEEN 1 AND 16777216),
    CONSTRAINT threads_watermark_check CHECK (
        replayed_seq BETWEEN 0 AND next_seq - 1 AND reflected_seq BETWEEN 0 AND next_seq - 1)
);
-- No index on updated_at: every append moves it, and would write to all indexes of the row.
COMMENT ON TABLE hippocampus.threads IS 'One row a conversation (a session, in ADK''s words).';
COMMENT ON COLUMN hippocampus.threads.session_id IS 'The client''s own name for the thread; unique per app and user.';
COMMENT ON COLUMN hippocampus.threads.number IS
    'A short name within this database. number · 2^24 + sequence_num is an event''s place in the log: see row_terms.place.';
COMMENT ON COLUMN hippocampus.threads.version IS 'Grows with every change; what an optimistic writer compares.';
COMMENT ON COLUMN hippocampus.threads.next_seq IS 'The sequence number that the next event gets, under this row''s lock.';
COMMENT ON COLUMN hippocampus.threads.replayed_seq IS 'Watermark of fast replay: events up to here are summarised and sliced.';
COMMENT ON COLUMN hippocampus.threads.reflected_seq IS 'Watermark of deep reflection: facts and insights are drawn up to here.';
COMMENT ON COLUMN hippocampus.threads.forgettings IS
    'How often something that it tells was forgotten: a consolidation that began before starts again.';

CREATE TABLE hippocampus.events (
    created_at        timestamptz NOT NULL DEFAULT now(),
    sequence_num      bigint NOT NULL,
    importance        real NOT NULL DEFAULT 0.5,
    token_count       integer NOT NULL,
    token_count_exact boolean NOT NULL DEFAULT false,
    thread_id         uuid NOT NULL,
    id                uuid NOT NULL DEFAULT gen_random_uuid(),
    user_id           text COLLATE "C" NOT NULL,
    app_name          text COLLATE "C" NOT NULL,
    author            text COLLATE "C" NOT NULL,
    event_type        text COLLATE "C" NOT NULL DEFAULT 'message',
    category          text COLLATE "C" NOT NULL DEFAULT 'chat',
    event_id          text COLLATE "C",
    invocation_id     text COLLATE "C",
    branch            text COLLATE "C",
    text              text NOT NULL DEFAULT '',
    tags              text[] NOT NULL DEFAULT '{}',
    content           jsonb NOT NULL,
    metadata          jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT events_pkey PRIMARY KEY (thread_id, sequence_num, user_id, app_name),
    CONSTRAINT events_id_key UNIQUE (id, user_id, app_name),
    CONSTRAINT events_thread_id_fkey FOREIGN KEY (thread_id, user_id, app_name)
        REFERENCES hippocampus.threads (id, user_id, app_name) ON DELETE CASCADE,
    CONSTRAINT events_sequence_num_check CHECK (sequence_num >= 1),
    CONSTRAINT events_importance_check CHECK (importance BETWEEN 0 AND 1),
    CONSTRAINT events_token_count_check CHECK (token_count >= 0),
    CONSTRAINT events_author_check CHECK (octet_length(author) BETWEEN 1 AND 255),
    CONSTRAINT events_event_type_check CHECK (octet_length(event_type) BETWEEN 1 AND 64),
    CONSTRAINT events_category_check CHECK (
        category IN ('chat', 'observation', 'task', 'decision', 'tool-use', 'error', 'insight', 'other')),
    CONSTRAINT events_event_id_check CHECK (octet_length(event_id) BETWEEN 1 AND 255),
    CONSTRAINT events_invocation_id_check CHECK (octet_length(invocation_id) <= 255),
    CONSTRAINT events_branch_check CHECK (octet_length(branch) <= 1024),
    CONSTRAINT events_created_at_check CHECK (isfinite(created_at)),
    CONSTRAINT events_text_check CHECK (octet_length(text) <= 1048576),
    CONSTRAINT events_tags_check CHECK (cardinality(tags) <= 64 AND pg_column_size(tags) <= 65536),
    CONSTRAINT events_content_check CHECK (pg_column_size(content) <= 1048576),
    CONSTRAINT events_metadata_check CHECK (jsonb_typeof(metadata) = 'object' AND pg_column_size(metadata) <= 262144)
);
CREATE UNIQUE INDEX events_event_id_key
    ON hippocampus.events (thread_id, event_id, user_id, app_name) WHERE event_id IS NOT NULL;
CREATE INDEX events_created_at_idx ON hippocampus.events (user_id, app_name, created_at DESC);
CREATE INDEX events_token_count_exact_idx ON hippocampus.events (thread_id) WHERE NOT token_count_exact;
COMMENT ON TABLE hippocampus.events IS
    'The session log. Append-only; sequence_num has no gaps within a thread. Written through append_event and append_events.';
COMMENT ON COLUMN hippocampus.events.event_id IS 'The client''s own id of the event, if any; the same id twice in a thread is stored once.';
COMMENT ON COLUMN hippocampus.events.text IS 'What is searched and what models read, drawn from content. At most 1 MiB.';
COMMENT ON COLUMN hippocampus.events.content IS 'The event as the client gave it. At most 1 MiB.';
COMMENT ON COLUMN hippocampus.events.importance IS 'How much it matters, 0 to 1.';
COMMENT ON COLUMN hippocampus.events.token_count IS
    'Tokens of the line that a context window prints for it (author, colon, text); an estimate, never under, until token_count_exact.';

CREATE TABLE hippocampus.user_state (
    updated_at timestamptz NOT NULL DEFAULT now(),
    version    bigint NOT NULL DEFAULT 1,
    user_id    text COLLATE "C" NOT NULL,
    app_name   text COLLATE "C" NOT NULL,
    state      jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT user_state_pkey PRIMARY KEY (user_id, app_name),
    CONSTRAINT user_state_user_id_check CHECK (octet_length(user_id) BETWEEN 1 AND 255),
    CONSTRAINT user_state_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255 AND app_name <> '*'),
    CONSTRAINT user_state_state_check CHECK (jsonb_typeof(state) = 'object' AND pg_column_size(state) <= 1048576)
);
COMMENT ON TABLE hippocampus.user_state IS 'State keys that all threads of a user share (ADK''s user: keys).';
COMMENT ON COLUMN hippocampus.user_state.version IS 'Grows with every merge; what an optimistic writer compares.';

CREATE TABLE hippocampus.app_state (
    updated_at timestamptz NOT NULL DEFAULT now(),
    version    bigint NOT NULL DEFAULT 1,
    app_name   text COLLATE "C" NOT NULL,
    state      jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT app_state_pkey PRIMARY KEY (app_name),
    CONSTRAINT app_state_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255 AND app_name <> '*'),
    CONSTRAINT app_state_state_check CHECK (jsonb_typeof(state) = 'object' AND pg_column_size(state) <= 1048576)
);
COMMENT ON TABLE hippocampus.app_state IS 'State keys that all users of an app share (ADK''s app: keys).';
COMMENT ON COLUMN hippocampus.app_state.version IS 'Grows with every merge; what an optimistic writer compares.';
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DROP TABLE hippocampus.app_state, hippocampus.user_state, hippocampus.events, hippocampus.threads;
-- +goose StatementEnd
