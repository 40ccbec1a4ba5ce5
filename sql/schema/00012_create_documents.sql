-- Documents, cut into chunks, and the anchor index over them: a list of chunks for each term that a question
-- may name.
--
-- A corpus belongs to a scope, as everything does. What all users of an app may read is indexed once, under
-- a user of its own (docs, say), and looked up in that scope.
--
-- An index has a number, its generation. A rebuild writes rows of the next one beside those that serve, and
-- anchor_indexes.serving is set in one statement at the end: readers see one or the other. Rows of a rebuild
-- that was killed are of a generation that never served; the next rebuild deletes them first.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE hippocampus.documents (
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    id           uuid NOT NULL DEFAULT gen_random_uuid(),
    user_id      text COLLATE "C" NOT NULL,
    app_name     text COLLATE "C" NOT NULL,
    path         text COLLATE "C" NOT NULL,
    source       text COLLATE "C" NOT NULL,
    kind         text COLLATE "C" NOT NULL DEFAULT 'text',
    title        text NOT NULL DEFAULT '',
    content_hash bytea NOT NULL,
    metadata     jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT documents_pkey PRIMARY KEY (id, user_id, app_name),
    CONSTRAINT documents_path_key UNIQUE (user_id, app_name, path),
    CONSTRAINT documents_user_id_check CHECK (octet_length(user_id) BETWEEN 1 AND 255),
    CONSTRAINT documents_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255 AND app_name <> '*'),
    CONSTRAINT documents_path_check CHECK (octet_length(path) BETWEEN 1 AND 1024),
    CONSTRAINT documents_source_check CHECK (octet_length(source) BETWEEN 1 AND 255),
    CONSTRAINT documents_kind_check CHECK (kind IN ('text', 'entity', 'project')),
    CONSTRAINT documents_title_check CHECK (octet_length(title) <= 1024),
    CONSTRAINT documents_content_hash_check CHECK (octet_length(content_hash) = 32),
    CONSTRAINT documents_metadata_check CHECK (jsonb_typeof(metadata) = 'object' AND pg_column_size(metadata) <= 65536)
);
COMMENT ON TABLE hippocampus.documents IS 'Files and pages of a corpus, by path. Their text stands in chunks.';
COMMENT ON COLUMN hippocampus.documents.source IS 'Where it came from, as a label: what a source allowlist names.';
COMMENT ON COLUMN hippocampus.documents.kind IS 'Whether its title is the name of an entity or a project, and so an anchor.';

CREATE TABLE hippocampus.chunks (
    created_at        timestamptz NOT NULL DEFAULT now(),
    position          integer NOT NULL,
    start_line        integer NOT NULL,
    token_count       integer NOT NULL,
    id                uuid NOT NULL DEFAULT gen_random_uuid(),
    document_id       uuid NOT NULL,
    user_id           text COLLATE "C" NOT NULL,
    app_name          text COLLATE "C" NOT NULL,
    heading           text NOT NULL DEFAULT '',
    content           text NOT NULL,
    content_hash      bytea NOT NULL,
    CONSTRAINT chunks_pkey PRIMARY KEY (id, user_id, app_name),
    CONSTRAINT chunks_document_id_fkey FOREIGN KEY (document_id, user_id, app_name)
        REFERENCES hippocampus.documents (id, user_id, app_name) ON DELETE CASCADE,
    CONSTRAINT chunks_position_check CHECK (position >= 1 AND start_line >= 1),
    CONSTRAINT chunks_heading_check CHECK (octet_length(heading) <= 4096),
    CONSTRAINT chunks_content_check CHECK (octet_length(content) BETWEEN 1 AND 65536),
    CONSTRAINT chunks_content_hash_check CHECK (octet_length(content_hash) = 32),
    CONSTRAINT chunks_token_count_check CHECK (token_count >= 0)
);
CREATE INDEX chunks_document_id_idx ON hippocampus.chunks (document_id, position);
CREATE INDEX chunks_id_idx ON hippocampus.chunks (user_id, app_name, id);
COMMENT ON TABLE hippocampus.chunks IS 'Pieces of documents: what is found, with the line it begins at and the headings above it.';
COMMENT ON COLUMN hippocampus.chunks.heading IS 'The headings above it, outermost first, with " > " between.';

CREATE TABLE hippocampus.anchor_indexes (
    built_at    timestamptz,
    lease_until timestamptz,
    serving     integer NOT NULL DEFAULT 0,
    building    integer,
    anchors     integer NOT NULL DEFAULT 0,
    held        boolean NOT NULL DEFAULT false,
    lease_token uuid,
    user_id     text COLLATE "C" NOT NULL,
    app_name    text COLLATE "C" NOT NULL,
    CONSTRAINT anchor_indexes_pkey PRIMARY KEY (user_id, app_name),
    CONSTRAINT anchor_indexes_serving_check CHECK (serving >= 0 AND building > serving),
    CONSTRAINT anchor_indexes_lease_check CHECK (num_nulls(building, lease_until, lease_token) IN (0, 3))
);
COMMENT ON TABLE hippocampus.anchor_indexes IS
    'Which generation of a tenant''s anchor index serves, and the rebuild that works on the next one. One whose lease has run out is dead.';
COMMENT ON COLUMN hippocampus.anchor_indexes.held IS
    'Whether the rebuild''s session holds a lock by its token: where nobody does, it is dead before its lease has run out.';

CREATE TABLE hippocampus.anchors (
    since      integer NOT NULL,
    until      integer NOT NULL,
    df         integer NOT NULL,
    id         uuid NOT NULL DEFAULT gen_random_uuid(),
    user_id    text COLLATE "C" NOT NULL,
    app_name   text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    kind       text COLLATE "C" NOT NULL,
    term       text NOT NULL,
    witnesses  uuid[] NOT NULL DEFAULT '{}',
    CONSTRAINT anchors_pkey PRIMARY KEY (id, user_id, app_name),
    CONSTRAINT anchors_key_key UNIQUE (user_id, app_name, key),
    CONSTRAINT anchors_user_id_check CHECK (octet_length(user_id) BETWEEN 1 AND 255),
    CONSTRAINT anchors_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255 AND app_name <> '*'),
    CONSTRAINT anchors_key_check CHECK (octet_length(key) BETWEEN 1 AND 255),
    CONSTRAINT anchors_term_check CHECK (octet_length(term) BETWEEN 1 AND 255),
    CONSTRAINT anchors_kind_check CHECK (kind IN ('entity', 'project', 'heading', 'bold', 'word')),
    CONSTRAINT anchors_generations_check CHECK (since >= 1 AND until >= since AND df >= 1),
    CONSTRAINT anchors_witnesses_check CHECK (cardinality(witnesses) <= 8)
);
COMMENT ON TABLE hippocampus.anchors IS
    'Terms that a question may name. They stay from one rebuild to the next, and so does their vector.';
COMMENT ON COLUMN hippocampus.anchors.key IS 'The dictionary forms of its words: what a question is compared with.';
COMMENT ON COLUMN hippocampus.anchors.since IS 'The first generation that has it; until is the last.';
COMMENT ON COLUMN hippocampus.anchors.df IS 'How many chunks and memories say it.';
COMMENT ON COLUMN hippocampus.anchors.witnesses IS
    'The chunks and memories that say it, where they are 8 at most: with the last of them it goes, for a term tells what they told.';

CREATE TABLE hippocampus.anchor_chunks (
    generation integer NOT NULL,
    score      real NOT NULL,
    anchor_id  uuid NOT NULL,
    row_id     uuid NOT NULL,
    chunk_id   uuid,
    memory_id  uuid,
    user_id    text COLLATE "C" NOT NULL,
    app_name   text COLLATE "C" NOT NULL,
    tier       text COLLATE "C" NOT NULL DEFAULT 'semantic',
    CONSTRAINT anchor_chunks_pkey PRIMARY KEY (anchor_id, generation, row_id, user_id, app_name) INCLUDE (score),
    CONSTRAINT anchor_chunks_anchor_id_fkey FOREIGN KEY (anchor_id, user_id, app_name)
        REFERENCES hippocampus.anchors (id, user_id, app_name) ON DELETE CASCADE,
    CONSTRAINT anchor_chunks_chunk_id_fkey FOREIGN KEY (chunk_id, user_id, app_name)
        REFERENCES hippocampus.chunks (id, user_id, app_name) ON DELETE CASCADE,
    CONSTRAINT anchor_chunks_target_check CHECK (num_nonnulls(chunk_id, memory_id) = 1 AND row_id = coalesce(chunk_id, memory_id)),
    CONSTRAINT anchor_chunks_generation_check CHECK (generation >= 1),
    CONSTRAINT anchor_chunks_tier_check CHECK (tier IN ('semantic', 'episodic'))
);
CREATE INDEX anchor_chunks_chunk_id_idx ON hippocampus.anchor_chunks (chunk_id) WHERE chunk_id IS NOT NULL;
CREATE INDEX anchor_chunks_memory_id_idx ON hippocampus.anchor_chunks (memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX anchor_chunks_generation_idx ON hippocampus.anchor_chunks (user_id, app_name, generation);
COMMENT ON TABLE hippocampus.anchor_chunks IS
    'The list of each anchor: the chunks and memories nearest to it. semantic rows are a rebuild''s, episodic ones of what was stored since. Who lists a memory holds its row, and a trigger takes out what is deleted: a foreign key would cost each deletion of a memory a look in here.';

CREATE TABLE hippocampus.anchor_denials (
    created_at timestamptz NOT NULL DEFAULT now(),
    user_id    text COLLATE "C" NOT NULL,
    app_name   text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    term       text NOT NULL,
    CONSTRAINT anchor_denials_pkey PRIMARY KEY (user_id, app_name, key),
    CONSTRAINT anchor_denials_user_id_check CHECK (octet_length(user_id) BETWEEN 1 AND 255),
    CONSTRAINT anchor_denials_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255 AND app_name <> '*'),
    CONSTRAINT anchor_denials_key_check CHECK (octet_length(key) BETWEEN 1 AND 255),
    CONSTRAINT anchor_denials_term_check CHECK (octet_length(term) BETWEEN 1 AND 255)
);
COMMENT ON TABLE hippocampus.anchor_denials IS 'Anchors that never bring anything, in whatever form a question names them.';

CREATE TABLE hippocampus.allowed_sources (
    created_at timestamptz NOT NULL DEFAULT now(),
    user_id    text COLLATE "C" NOT NULL,
    app_name   text COLLATE "C" NOT NULL,
    source     text COLLATE "C" NOT NULL,
    CONSTRAINT allowed_sources_pkey PRIMARY KEY (user_id, app_name, source),
    CONSTRAINT allowed_sources_user_id_check CHECK (octet_length(user_id) BETWEEN 1 AND 255),
    CONSTRAINT allowed_sources_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255 AND app_name <> '*'),
    CONSTRAINT allowed_sources_source_check CHECK (octet_length(source) BETWEEN 1 AND 255)
);
COMMENT ON TABLE hippocampus.allowed_sources IS
    'The sources that may reach a result, for a tenant that has a row here; a tenant without one allows all. Of memories, memories.source counts.';

DO $policies$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['documents', 'chunks', 'anchor_indexes', 'anchors', 'anchor_chunks', 'anchor_denials',
            'allowed_sources'] LOOP
        EXECUTE format('ALTER TABLE hippocampus.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format('ALTER TABLE hippocampus.%I FORCE ROW LEVEL SECURITY', v_table);
        EXECUTE format('CREATE POLICY %I ON hippocampus.%I TO hippocampus_owner, hippocampus_service, '
                       'hippocampus_worker USING (true) WITH CHECK (true)', v_table || '_trusted', v_table);
        EXECUTE format('CREATE POLICY %I ON hippocampus.%I TO hippocampus_tenant, hippocampus_reader USING '
                       '(user_id = current_setting(''hippocampus.user_id'', true) AND app_name = current_setting(''hippocampus.app_name'', true))',
                       v_table || '_bound', v_table);
        EXECUTE format('GRANT SELECT ON hippocampus.%I TO hippocampus_reader, hippocampus_tenant, hippocampus_service, '
                       'hippocampus_worker', v_table);
        EXECUTE format('GRANT INSERT, DELETE ON hippocampus.%I TO hippocampus_tenant, hippocampus_service, hippocampus_worker', v_table);
    END LOOP;
END
$policies$;
GRANT UPDATE (updated_at, source, kind, title, content_hash, metadata) ON hippocampus.documents
    TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
-- What a chunk says stays: another text is another chunk.
GRANT UPDATE (position, start_line) ON hippocampus.chunks TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
GRANT UPDATE ON hippocampus.anchor_indexes TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
GRANT UPDATE (until, df, kind, witnesses) ON hippocampus.anchors TO hippocampus_tenant, hippocampus_service, hippocampus_worker;

-- The shapes of rows that functions return.
CREATE VIEW hippocampus.document_changes WITH (security_invoker = true) AS
SELECT d.id AS document_id, 0::integer AS added, 0::integer AS kept, 0::integer AS deleted, false::boolean AS unchanged
FROM hippocampus.documents d WHERE false;
COMMENT ON VIEW hippocampus.document_changes IS 'What put_document returns: what became of the document''s chunks.';

CREATE VIEW hippocampus.chunk_hits WITH (security_invoker = true) AS
SELECT c.id AS chunk_id, c.document_id, d.path, d.source, d.title, c.heading, c.start_line, c.content,
    0::double precision AS score, 0::double precision AS text_score, 0::double precision AS vector_score, c.token_count
FROM hippocampus.chunks c JOIN hippocampus.documents d ON false WHERE false;
COMMENT ON VIEW hippocampus.chunk_hits IS 'What search_chunks returns: a chunk and every part of its score.';

CREATE VIEW hippocampus.anchor_hits WITH (security_invoker = true) AS
SELECT ''::text AS origin, c.id AS row_id, d.path, d.source, c.heading, c.start_line, c.content,
    0::double precision AS score, 0::double precision AS anchor_score, 0::double precision AS query_score,
    '{}'::text[] AS anchors, '{}'::text[] AS ways, ''::text AS tier, c.token_count, ''::text AS trust
FROM hippocampus.chunks c JOIN hippocampus.documents d ON false WHERE false;
COMMENT ON VIEW hippocampus.anchor_hits IS
    'What lookup_anchors returns: a chunk or a memory (origin), and which anchors brought it by which way; ways[n] is that of anchors[n]. trust is whose words it holds: document of a chunk.';

CREATE VIEW hippocampus.document_statistics WITH (security_invoker = true) AS
SELECT 0::bigint AS documents, 0::bigint AS chunks, 0::bigint AS tokens, 0::bigint AS without_vector, 0::bigint AS anchors,
    0::bigint AS entries, 0::bigint AS entries_since, i.built_at, false::boolean AS rebuilding, '{}'::text[] AS denied, '{}'::text[] AS sources
FROM hippocampus.anchor_indexes i WHERE false;
COMMENT ON VIEW hippocampus.document_statistics IS
    'What document_stats returns: a corpus and its anchor index. entries are the rows of all lists, entries_since those of what was stored since the last rebuild; sources are null where all are allowed.';
GRANT SELECT ON hippocampus.document_changes, hippocampus.chunk_hits, hippocampus.anchor_hits, hippocampus.document_statistics
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;

INSERT INTO hippocampus.settings (key, value) VALUES
    ('anchors', '{"per_anchor": 20, "theta": 0.8, "semantic_theta": 0.75, "cap": 50, "anchor_weight": 0.5, "vocabulary": 2000}');
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DELETE FROM hippocampus.settings WHERE key = 'anchors' AND app_name <> '*' OR key LIKE 'anchors/%';
ALTER TABLE hippocampus.settings DISABLE TRIGGER USER;
DELETE FROM hippocampus.settings WHERE key = 'anchors';
ALTER TABLE hippocampus.settings ENABLE TRIGGER USER;
DROP VIEW hippocampus.document_changes, hippocampus.chunk_hits, hippocampus.anchor_hits, hippocampus.document_statistics;
DROP TABLE hippocampus.allowed_sources, hippocampus.anchor_denials, hippocampus.anchor_chunks, hippocampus.anchors,
    hippocampus.anchor_indexes, hippocampus.chunks, hippocampus.documents;
DELETE FROM hippocampus.unindexed_rows n USING hippocampus.row_terms r WHERE r.id = n.id AND r.source = 'chunk';
DELETE FROM hippocampus.row_terms WHERE source = 'chunk';
DELETE FROM hippocampus.postings WHERE source = 'chunk';
DELETE FROM hippocampus.posting_totals WHERE source = 'chunk';
DELETE FROM hippocampus.embeddings WHERE source IN ('chunk', 'anchor');
DELETE FROM hippocampus.embedding_queue WHERE source IN ('chunk', 'anchor');
DELETE FROM hippocampus.vector_indexes WHERE source IN ('chunk', 'anchor');
-- +goose StatementEnd
