-- Rights of everything that follows, and the deployment's settings.
-- The schema itself exists by now: sql/bootstrap.sql made it, since goose keeps its own table in it.

-- +goose Up
-- +goose StatementBegin
COMMENT ON SCHEMA hippocampus IS
    'The memory of AI agents: session log, memories, facts, instructions, and the jobs that consolidate them.';

REVOKE ALL ON SCHEMA hippocampus FROM PUBLIC;
GRANT USAGE ON SCHEMA hippocampus
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
-- goose made its table a moment ago; every program asks it at start whether the database is new enough.
GRANT SELECT ON hippocampus.goose_db_version
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
-- Nobody may call a function that no file in sql/functions grants.
ALTER DEFAULT PRIVILEGES FOR ROLE hippocampus_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

CREATE TABLE hippocampus.settings (
    updated_at timestamptz NOT NULL DEFAULT now(),
    app_name   text COLLATE "C" NOT NULL DEFAULT '*',
    key        text COLLATE "C" NOT NULL,
    value      jsonb NOT NULL,
    CONSTRAINT settings_pkey PRIMARY KEY (app_name, key),
    CONSTRAINT settings_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255),
    CONSTRAINT settings_key_check CHECK (octet_length(key) BETWEEN 1 AND 255),
    CONSTRAINT settings_value_check CHECK (pg_column_size(value) <= 65536)
);
COMMENT ON TABLE hippocampus.settings IS
    'One row a setting. app_name ''*'' holds the deployment''s value; a row of an app overrides it for that app. Written with put_setting; a trigger refuses what is not valid. text_search_config cannot change once rows are indexed: their words were stemmed with it.';

INSERT INTO hippocampus.settings (key, value) VALUES
    ('text_search_config', '"english"'),
    ('token_encoding', '"o200k_base"'),
    ('episodic_turns', '1'),
    ('fact_supersede_margin', '0.3'),
    ('exact_search_rows', '10000'),
    -- measured on conversations of three kinds, hippo bench recall --ablate
    ('evidence', '{"nearby": 1, "meaning": 0.5, "session": 0.5, "answer": 1, "author": 0.25, "time": 0.3, "question": 0.05, "length": 0.1, "spread": 0.025}'),
    ('similarity', '{"duplicate": 0.93, "ask": 0.78, "forget": 0.6}'),
    -- measured: an embedder that sees letters only puts what means the same in other words at 0.3 to 0.8
    ('similarity/offline/hash-v1', '{"duplicate": 0.9, "ask": 0.35, "forget": 0.4}'),
    ('ranking', '{"text": 0.55, "vector": 0.35, "strength": 0.05, "recency": 0.05}'),
    -- measured: an embedder that sees letters only adds nothing to words that are ranked well
    ('ranking/offline/hash-v1', '{"text": 0.86, "vector": 0.08, "strength": 0.03, "recency": 0.03}');
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DROP TABLE hippocampus.settings;
ALTER DEFAULT PRIVILEGES FOR ROLE hippocampus_owner GRANT EXECUTE ON FUNCTIONS TO PUBLIC;
REVOKE SELECT ON hippocampus.goose_db_version
    FROM hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
REVOKE USAGE ON SCHEMA hippocampus
    FROM hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
-- +goose StatementEnd
