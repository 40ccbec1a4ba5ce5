-- A change of the embedding model, online: a second generation of vectors is filled beside the one that serves,
-- takes its place in one transaction, and the one before stays current until it is dropped.

-- +goose Up
-- +goose StatementBegin
ALTER TABLE hippocampus.embedding_models
    DROP CONSTRAINT embedding_models_status_check,
    ADD COLUMN begun_xid bigint,
    ADD COLUMN queued_at timestamptz,
    ADD COLUMN looked bigint NOT NULL DEFAULT 0,
    ADD COLUMN cursor_id uuid,
    ADD COLUMN cursor_source text COLLATE "C",
    ADD CONSTRAINT embedding_models_status_check CHECK (status IN ('building', 'serving', 'standby', 'retired')),
    ADD CONSTRAINT embedding_models_named_check CHECK (status = 'serving' OR model IS NOT NULL OR generation = 1);
CREATE UNIQUE INDEX embedding_models_building_key ON hippocampus.embedding_models (status) WHERE status = 'building';
CREATE UNIQUE INDEX embedding_models_standby_key ON hippocampus.embedding_models (status) WHERE status = 'standby';
COMMENT ON TABLE hippocampus.embedding_models IS
    'Generations of embeddings. One serves; another may be building, or standby: it served before, and is kept current until it is dropped. A retired one has no vectors. The first dimension was chosen at the first migration, the first model is the first that a trusted writer of a vector named.';
COMMENT ON COLUMN hippocampus.embedding_models.begun_xid IS
    'The transaction that began it. Rows of transactions that were open then may not be queued for it, so its queue is filled when they have ended.';
COMMENT ON COLUMN hippocampus.embedding_models.queued_at IS 'When every row that was there had been queued for it; null until then.';
COMMENT ON COLUMN hippocampus.embedding_models.looked IS 'How many rows were walked through to be queued for it.';
COMMENT ON COLUMN hippocampus.embedding_models.cursor_id IS
    'How far its rows were walked through, by id: those queued for it while it is building, those deleted when it is retired.';

-- A row waits once for each generation that is to have its vector.
ALTER TABLE hippocampus.embedding_queue ADD COLUMN generation integer NOT NULL DEFAULT 1;
ALTER TABLE hippocampus.embedding_queue ALTER COLUMN generation DROP DEFAULT,
    DROP CONSTRAINT embedding_queue_pkey,
    ADD CONSTRAINT embedding_queue_pkey PRIMARY KEY (row_id, user_id, app_name, generation),
    ADD CONSTRAINT embedding_queue_generation_fkey FOREIGN KEY (generation)
        REFERENCES hippocampus.embedding_models (generation);
DROP INDEX hippocampus.embedding_queue_run_after_idx;
CREATE INDEX embedding_queue_run_after_idx ON hippocampus.embedding_queue (generation, run_after);
GRANT INSERT (generation) ON hippocampus.embedding_queue TO hippocampus_tenant;
GRANT INSERT ON hippocampus.embedding_models TO hippocampus_worker;

CREATE VIEW hippocampus.embedding_generations WITH (security_invoker = true) AS
SELECT g.generation, g.dimension, g.status, ''::text AS model, g.created_at, g.queued_at,
    0::bigint AS total, 0::bigint AS vectors, 0::bigint AS waiting, 0::bigint AS failed
FROM hippocampus.embedding_models g WHERE false;
COMMENT ON VIEW hippocampus.embedding_generations IS
    'What list_embedding_generations returns: a generation, how many rows are to have a vector, how many have one of it, wait for one, and wait after a failure.';
GRANT SELECT ON hippocampus.embedding_generations TO hippocampus_worker;

CREATE VIEW hippocampus.embedding_progresses WITH (security_invoker = true) AS
SELECT g.generation, g.status, g.queued_at, g.looked, 0::bigint AS waiting, 0::bigint AS lacking, 0::bigint AS tried
FROM hippocampus.embedding_models g WHERE false;
COMMENT ON VIEW hippocampus.embedding_progresses IS
    'What embedding_progress returns: how many rows were walked through to be queued for a generation, how many wait for their vector, how many of these keep it from serving, and how many of those are tried within moments.';
GRANT SELECT ON hippocampus.embedding_progresses TO hippocampus_worker;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DROP VIEW hippocampus.embedding_progresses;
DROP VIEW hippocampus.embedding_generations;
REVOKE INSERT ON hippocampus.embedding_models FROM hippocampus_worker;
DELETE FROM hippocampus.vector_indexes i USING hippocampus.embedding_models g
WHERE g.generation = i.generation AND g.status <> 'serving';
DELETE FROM hippocampus.embeddings e USING hippocampus.embedding_models g
WHERE g.generation = e.generation AND g.status <> 'serving';
DELETE FROM hippocampus.embedding_queue q USING hippocampus.embedding_models g
WHERE g.generation = q.generation AND g.status <> 'serving';
DELETE FROM hippocampus.embedding_models WHERE status <> 'serving';
ALTER TABLE hippocampus.embedding_queue DROP CONSTRAINT embedding_queue_pkey, DROP COLUMN generation,
    ADD CONSTRAINT embedding_queue_pkey PRIMARY KEY (row_id, user_id, app_name);
CREATE INDEX embedding_queue_run_after_idx ON hippocampus.embedding_queue (run_after);
DROP INDEX hippocampus.embedding_models_building_key, hippocampus.embedding_models_standby_key;
ALTER TABLE hippocampus.embedding_models
    DROP CONSTRAINT embedding_models_status_check, DROP CONSTRAINT embedding_models_named_check,
    DROP COLUMN begun_xid, DROP COLUMN queued_at, DROP COLUMN looked, DROP COLUMN cursor_id, DROP COLUMN cursor_source,
    ADD CONSTRAINT embedding_models_status_check CHECK (status IN ('building', 'serving', 'retired'));
-- +goose StatementEnd
