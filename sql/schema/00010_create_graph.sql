-- A user's knowledge graph, which agents draw themselves: entities by name, what was observed of each, and
-- relations between names. A relation may name an entity that is not there yet, so it has no foreign key.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE hippocampus.graph_entities (
    created_at  timestamptz NOT NULL DEFAULT now(),
    position    bigint NOT NULL,
    user_id     text COLLATE "C" NOT NULL,
    app_name    text COLLATE "C" NOT NULL,
    name        text COLLATE "C" NOT NULL,
    entity_type text COLLATE "C" NOT NULL,
    CONSTRAINT graph_entities_pkey PRIMARY KEY (user_id, app_name, name),
    CONSTRAINT graph_entities_user_id_check CHECK (octet_length(user_id) BETWEEN 1 AND 255),
    CONSTRAINT graph_entities_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255 AND app_name <> '*'),
    CONSTRAINT graph_entities_name_check CHECK (octet_length(name) BETWEEN 1 AND 512),
    CONSTRAINT graph_entities_entity_type_check CHECK (octet_length(entity_type) <= 512),
    CONSTRAINT graph_entities_position_check CHECK (position >= 1)
);
CREATE INDEX graph_entities_position_idx ON hippocampus.graph_entities (user_id, app_name, position);
COMMENT ON TABLE hippocampus.graph_entities IS
    'Entities of a user''s knowledge graph, one a name. Written with graph_create_entities.';
COMMENT ON COLUMN hippocampus.graph_entities.position IS 'The order in which they were created.';

CREATE TABLE hippocampus.graph_observations (
    created_at   timestamptz NOT NULL DEFAULT now(),
    position     bigint NOT NULL,
    user_id      text COLLATE "C" NOT NULL,
    app_name     text COLLATE "C" NOT NULL,
    entity_name  text COLLATE "C" NOT NULL,
    content_hash bytea NOT NULL,
    content      text NOT NULL,
    -- by hash, since a key of a btree may not be as long as a text
    CONSTRAINT graph_observations_pkey PRIMARY KEY (user_id, app_name, entity_name, content_hash),
    CONSTRAINT graph_observations_entity_name_fkey FOREIGN KEY (user_id, app_name, entity_name)
        REFERENCES hippocampus.graph_entities (user_id, app_name, name) ON DELETE CASCADE,
    CONSTRAINT graph_observations_content_hash_check CHECK (octet_length(content_hash) = 32),
    CONSTRAINT graph_observations_content_check CHECK (octet_length(content) <= 65536),
    CONSTRAINT graph_observations_position_check CHECK (position >= 1)
);
CREATE INDEX graph_observations_position_idx ON hippocampus.graph_observations (user_id, app_name, entity_name, position);
COMMENT ON TABLE hippocampus.graph_observations IS
    'What was observed of an entity, each text once. Written with graph_create_entities and graph_add_observations.';
COMMENT ON COLUMN hippocampus.graph_observations.position IS 'The order in which an entity''s were added.';

CREATE TABLE hippocampus.graph_relations (
    created_at    timestamptz NOT NULL DEFAULT now(),
    position      bigint NOT NULL,
    user_id       text COLLATE "C" NOT NULL,
    app_name      text COLLATE "C" NOT NULL,
    from_name     text COLLATE "C" NOT NULL,
    to_name       text COLLATE "C" NOT NULL,
    relation_type text COLLATE "C" NOT NULL,
    CONSTRAINT graph_relations_pkey PRIMARY KEY (user_id, app_name, from_name, to_name, relation_type),
    CONSTRAINT graph_relations_user_id_check CHECK (octet_length(user_id) BETWEEN 1 AND 255),
    CONSTRAINT graph_relations_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255 AND app_name <> '*'),
    CONSTRAINT graph_relations_from_name_check CHECK (octet_length(from_name) BETWEEN 1 AND 512),
    CONSTRAINT graph_relations_to_name_check CHECK (octet_length(to_name) BETWEEN 1 AND 512),
    CONSTRAINT graph_relations_relation_type_check CHECK (octet_length(relation_type) <= 512),
    CONSTRAINT graph_relations_position_check CHECK (position >= 1)
);
CREATE INDEX graph_relations_position_idx ON hippocampus.graph_relations (user_id, app_name, position);
CREATE INDEX graph_relations_to_name_idx ON hippocampus.graph_relations (user_id, app_name, to_name);
COMMENT ON TABLE hippocampus.graph_relations IS
    'Relations of a user''s knowledge graph, from one name to another. Written with graph_create_relations.';
COMMENT ON COLUMN hippocampus.graph_relations.position IS 'The order in which they were created.';

DO $policies$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['graph_entities', 'graph_observations', 'graph_relations'] LOOP
        EXECUTE format('ALTER TABLE hippocampus.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format('ALTER TABLE hippocampus.%I FORCE ROW LEVEL SECURITY', v_table);
        EXECUTE format('CREATE POLICY %I ON hippocampus.%I TO hippocampus_owner, hippocampus_service, '
                       'hippocampus_worker USING (true) WITH CHECK (true)', v_table || '_trusted', v_table);
        EXECUTE format('CREATE POLICY %I ON hippocampus.%I TO hippocampus_tenant, hippocampus_reader '
                       'USING (user_id = current_setting(''hippocampus.user_id'', true) '
                       'AND app_name = current_setting(''hippocampus.app_name'', true))', v_table || '_bound', v_table);
    END LOOP;
END
$policies$;
GRANT SELECT ON hippocampus.graph_entities, hippocampus.graph_observations, hippocampus.graph_relations
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
-- What was drawn is not redrawn: it is deleted and created. So nobody may update.
GRANT INSERT, DELETE ON hippocampus.graph_entities, hippocampus.graph_observations, hippocampus.graph_relations
    TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DROP TABLE hippocampus.graph_relations, hippocampus.graph_observations, hippocampus.graph_entities;
-- +goose StatementEnd
