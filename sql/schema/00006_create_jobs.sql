-- Consolidation jobs and retention policies. River's own tables came with version 2.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE hippocampus.consolidation_jobs (
    created_at   timestamptz NOT NULL DEFAULT now(),
    started_at   timestamptz,
    completed_at timestamptz,
    river_job_id bigint,
    from_seq     bigint,
    to_seq       bigint,
    attempts     integer NOT NULL DEFAULT 0,
    id           uuid NOT NULL DEFAULT gen_random_uuid(),
    thread_id    uuid NOT NULL,
    user_id      text COLLATE "C" NOT NULL,
    app_name     text COLLATE "C" NOT NULL,
    status       text COLLATE "C" NOT NULL DEFAULT 'pending',
    job_type     text COLLATE "C" NOT NULL,
    result       jsonb NOT NULL DEFAULT '{}',
    error        text,
    raw_reply    text,
    CONSTRAINT consolidation_jobs_pkey PRIMARY KEY (id, user_id, app_name),
    CONSTRAINT consolidation_jobs_thread_id_fkey FOREIGN KEY (thread_id, user_id, app_name)
        REFERENCES hippocampus.threads (id, user_id, app_name) ON DELETE CASCADE,
    CONSTRAINT consolidation_jobs_job_type_check CHECK (
        job_type IN ('fast_replay', 'deep_reflection', 'full_consolidation')),
    CONSTRAINT consolidation_jobs_status_check CHECK (
        status IN ('pending', 'running', 'completed', 'failed', 'cancelled')),
    CONSTRAINT consolidation_jobs_completed_at_check CHECK (
        (status IN ('completed', 'failed', 'cancelled')) = (completed_at IS NOT NULL)),
    CONSTRAINT consolidation_jobs_raw_reply_check CHECK (octet_length(raw_reply) <= 65536)
);
-- A thread waits for one consolidation of a kind at most: what is appended meanwhile is in it. One that has
-- begun and is to be tried again is beside the point: River must be able to put it off at any moment, and not
-- wait for a client that is just asking for another one.
CREATE UNIQUE INDEX consolidation_jobs_pending_key ON hippocampus.consolidation_jobs
    (thread_id, job_type, user_id, app_name) WHERE status = 'pending' AND started_at IS NULL;
CREATE INDEX consolidation_jobs_thread_id_idx ON hippocampus.consolidation_jobs (thread_id, created_at DESC);
CREATE INDEX consolidation_jobs_river_job_id_idx ON hippocampus.consolidation_jobs (river_job_id);
CREATE INDEX consolidation_jobs_status_idx ON hippocampus.consolidation_jobs (status, created_at)
    WHERE status IN ('pending', 'running', 'failed');
COMMENT ON TABLE hippocampus.consolidation_jobs IS
    'The lasting record of each consolidation. Its status follows River''s job by a trigger, in the same transaction.';
COMMENT ON COLUMN hippocampus.consolidation_jobs.raw_reply IS
    'What the model answered, when it could not be read; at most 64 KiB.';

CREATE TABLE hippocampus.retention_policies (
    updated_at     timestamptz NOT NULL DEFAULT now(),
    decay_rate     double precision NOT NULL DEFAULT 0.1,
    threshold      double precision NOT NULL DEFAULT 0.1,
    initial_weight double precision NOT NULL DEFAULT 1.0,
    min_age_days   integer NOT NULL DEFAULT 7,
    max_per_user   integer NOT NULL DEFAULT 100000,
    app_name       text COLLATE "C" NOT NULL DEFAULT '*',
    memory_type    text COLLATE "C" NOT NULL DEFAULT '*',
    category       text COLLATE "C" NOT NULL DEFAULT '*',
    model          text COLLATE "C" NOT NULL DEFAULT 'ebbinghaus',
    preset         text COLLATE "C",
    CONSTRAINT retention_policies_pkey PRIMARY KEY (app_name, memory_type, category),
    CONSTRAINT retention_policies_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255),
    CONSTRAINT retention_policies_memory_type_check CHECK (memory_type IN ('*', 'episodic', 'semantic', 'summary')),
    CONSTRAINT retention_policies_category_check CHECK (
        category IN ('*', 'chat', 'observation', 'task', 'decision', 'tool-use', 'error', 'insight', 'other')),
    CONSTRAINT retention_policies_model_check CHECK (model IN ('ebbinghaus', 'strength')),
    CONSTRAINT retention_policies_preset_check CHECK (preset IN ('busy', 'quiet', 'sensitive', 'archive')),
    CONSTRAINT retention_policies_decay_rate_check CHECK (decay_rate >= 0 AND decay_rate <= 100),
    CONSTRAINT retention_policies_threshold_check CHECK (threshold BETWEEN 0 AND 1),
    CONSTRAINT retention_policies_initial_weight_check CHECK (initial_weight BETWEEN 0 AND 1),
    CONSTRAINT retention_policies_min_age_days_check CHECK (min_age_days >= 0),
    CONSTRAINT retention_policies_max_per_user_check CHECK (max_per_user >= 1)
);
INSERT INTO hippocampus.retention_policies DEFAULT VALUES;
COMMENT ON TABLE hippocampus.retention_policies IS
    'How memories fade, by app, memory type and category; ''*'' means any. The most exact row holds: app before type before category.';
COMMENT ON COLUMN hippocampus.retention_policies.decay_rate IS 'λ of the model, per day.';
COMMENT ON COLUMN hippocampus.retention_policies.threshold IS 'A memory below this score, and older than min_age_days, is cleaned up.';
COMMENT ON COLUMN hippocampus.retention_policies.initial_weight IS
    'How far a memory''s first worth holds: its score is the greater of the access curve and initial_weight · initial_score · exp(-λ · days since it was stored). 0 leaves the curve alone.';
COMMENT ON COLUMN hippocampus.retention_policies.max_per_user IS 'Memories that a user may have under this policy; beyond it the lowest scores go first.';
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DROP TABLE hippocampus.retention_policies, hippocampus.consolidation_jobs;
-- +goose StatementEnd
