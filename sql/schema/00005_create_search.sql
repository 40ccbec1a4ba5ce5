-- What search reads: the index of words (row_terms, postings) and the vectors (embeddings).
--
-- Words are rows of a btree, not a GIN index: under row-level security Postgres may not use an index whose operator
-- is not leakproof, and @@ is not; text equality is. It also gives BM25 its statistics, takes any analyser, and finds
-- a row in the statement after it was written.
--
-- A write adds one row, its terms (row_terms): what a search of the next statement reads as it stands. When a user
-- has some of these, they are folded into postings: lists of rows by term, 64 to a block, as inverted indexes are
-- kept everywhere. A posting costs 20 bytes of a block instead of a row and its index entries, and a write costs no
-- more however large the index is. A row that goes is noted (unindexed_rows), and taken out of the lists by whoever
-- has the lists of that user to itself, which is mostly the one that noted it. So no writer waits for another.
--
-- Vectors live apart from the rows that they stand for: a search over vectors reads no text, an access
-- count rewrites no vector, and a second generation of another model or dimension can be filled beside
-- the one that serves. They are half precision and never out of line (STORAGE PLAIN): half the pages,
-- no TOAST fetch a row, and up to 4,000 dimensions fit an index. Beside each stand its signs, a bit a
-- dimension, in the primary key's leaves: what is near is found among them, in a sixteenth of the bytes
-- and side by side for a tenant however its rows were written, and only the nearest vectors are read.

-- +goose Up
-- +goose StatementBegin
CREATE SEQUENCE hippocampus.row_terms_number_seq;
CREATE TABLE hippocampus.row_terms (
    id       bigint GENERATED ALWAYS AS IDENTITY,
    number   bigint NOT NULL DEFAULT -nextval('hippocampus.row_terms_number_seq'),
    place    bigint,
    row_id   uuid NOT NULL,
    length   smallint NOT NULL,
    asks     boolean NOT NULL,
    user_id  text COLLATE "C" NOT NULL,
    app_name text COLLATE "C" NOT NULL,
    source   text COLLATE "C" NOT NULL,
    terms    text[] COLLATE "C" NOT NULL,
    counts   smallint[] NOT NULL,
    CONSTRAINT row_terms_pkey PRIMARY KEY (user_id, app_name, source, number),
    CONSTRAINT row_terms_source_check CHECK (source IN ('event', 'memory', 'fact', 'chunk', 'store')),
    CONSTRAINT row_terms_scope_check CHECK (octet_length(user_id) BETWEEN 1 AND 255 AND octet_length(app_name) BETWEEN 1 AND 255),
    CONSTRAINT row_terms_length_check CHECK (length >= 1),
    -- what a bound login writes of itself is folded by others
    CONSTRAINT row_terms_terms_check CHECK (array_ndims(terms) = 1 AND array_ndims(counts) = 1 AND cardinality(terms) = cardinality(counts)
        AND cardinality(terms) BETWEEN 1 AND 400000 AND array_position(terms, NULL) IS NULL AND array_position(counts, NULL) IS NULL)
);
ALTER SEQUENCE hippocampus.row_terms_number_seq OWNED BY hippocampus.row_terms.number;
-- with the tenant, or a plan that knows nothing of the table yet would take the primary key and read all of a user
CREATE INDEX row_terms_row_id_idx ON hippocampus.row_terms (row_id, user_id, app_name, source);
COMMENT ON TABLE hippocampus.row_terms IS
    'The terms of a row of a source (events, memories, facts, chunks, the store), with how often each stands in it, 32,767 at most. Kept by triggers.';
COMMENT ON COLUMN hippocampus.row_terms.number IS
    'Negative until the row is folded into postings; then by what number the lists name it, in the order of folding.';
COMMENT ON COLUMN hippocampus.row_terms.place IS
    'Where the row stands in the log, threads.number · 2^24 + sequence number: neighbours differ by 1, and a search sees a row''s conversation without reading the row. Null for what has no one place.';
COMMENT ON COLUMN hippocampus.row_terms.length IS 'How many terms the row has, 32,767 at most: beyond that BM25 would tell no difference.';
COMMENT ON COLUMN hippocampus.row_terms.asks IS 'Whether the row is a turn that only asks, whose answer is the next.';

CREATE TABLE hippocampus.postings (
    block    bigint NOT NULL,
    user_id  text COLLATE "C" NOT NULL,
    app_name text COLLATE "C" NOT NULL,
    source   text COLLATE "C" NOT NULL,
    term     text COLLATE "C" NOT NULL,
    numbers  bigint[] NOT NULL,
    places   bigint[] NOT NULL,
    counts   smallint[] NOT NULL,
    lengths  smallint[] NOT NULL,
    CONSTRAINT postings_pkey PRIMARY KEY (user_id, app_name, source, term, block),
    CONSTRAINT postings_source_check CHECK (source IN ('event', 'memory', 'fact', 'chunk', 'store')),
    CONSTRAINT postings_numbers_check CHECK (array_ndims(numbers) = 1 AND array_lower(numbers, 1) = 1 AND cardinality(numbers) <= 64
        AND array_dims(places) = array_dims(numbers) AND array_dims(counts) = array_dims(numbers) AND array_dims(lengths) = array_dims(numbers))
);
COMMENT ON TABLE hippocampus.postings IS
    'In which rows a term stands: blocks of up to 64, by row_terms.number, with the place, the count and the length of each row.';
COMMENT ON COLUMN hippocampus.postings.block IS
    'The first number that the block had. A row is in the last block of the term that does not begin after it.';

CREATE TABLE hippocampus.unindexed_rows (
    id       bigint NOT NULL,
    row_id   uuid NOT NULL,
    user_id  text COLLATE "C" NOT NULL,
    app_name text COLLATE "C" NOT NULL,
    CONSTRAINT unindexed_rows_pkey PRIMARY KEY (user_id, app_name, id)
);
COMMENT ON TABLE hippocampus.unindexed_rows IS
    'Rows of row_terms that are to go, with their postings: their sources are gone. Whoever has the user''s postings to itself takes them out.';

CREATE TABLE hippocampus.posting_totals (
    rows     bigint NOT NULL,
    terms    bigint NOT NULL,
    removed  bigint NOT NULL DEFAULT 0,
    user_id  text COLLATE "C" NOT NULL,
    app_name text COLLATE "C" NOT NULL,
    source   text COLLATE "C" NOT NULL,
    CONSTRAINT posting_totals_pkey PRIMARY KEY (user_id, app_name, source),
    CONSTRAINT posting_totals_source_check CHECK (source IN ('event', 'memory', 'fact', 'chunk', 'store')),
    -- so that no sum of what a bound login writes is beyond a bigint: sums over all tenants would fail for all
    CONSTRAINT posting_totals_range_check CHECK (rows BETWEEN 0 AND 10000000000 AND terms BETWEEN 0 AND 10000000000000
        AND removed BETWEEN 0 AND 10000000000)
);
COMMENT ON TABLE hippocampus.posting_totals IS
    'How many rows postings hold, with how many terms, per tenant and source.';
COMMENT ON COLUMN hippocampus.posting_totals.removed IS 'How many rows were taken out since the lists were last written whole.';

CREATE TABLE hippocampus.embedding_models (
    created_at timestamptz NOT NULL DEFAULT now(),
    signs_rows bigint,
    signs_recall double precision,
    generation integer NOT NULL,
    dimension  integer NOT NULL,
    status     text COLLATE "C" NOT NULL,
    model      text COLLATE "C",
    CONSTRAINT embedding_models_pkey PRIMARY KEY (generation),
    CONSTRAINT embedding_models_dimension_key UNIQUE (generation, dimension),
    CONSTRAINT embedding_models_generation_check CHECK (generation >= 1),
    CONSTRAINT embedding_models_dimension_check CHECK (dimension BETWEEN 1 AND 4000),
    CONSTRAINT embedding_models_status_check CHECK (status IN ('building', 'serving', 'retired')),
    CONSTRAINT embedding_models_model_check CHECK (octet_length(model) BETWEEN 1 AND 255)
);
CREATE UNIQUE INDEX embedding_models_serving_key ON hippocampus.embedding_models (status) WHERE status = 'serving';
COMMENT ON TABLE hippocampus.embedding_models IS
    'Generations of embeddings. One serves; its dimension was chosen at the first migration, its model is the first that a writer of a vector named.';
COMMENT ON COLUMN hippocampus.embedding_models.signs_recall IS
    'Which share of the ten nearest vectors is found by their signs, measured on large tenants; null until then. Under 0.99 the signs are not used: some models leave most dimensions at zero, or on one side of it.';
COMMENT ON COLUMN hippocampus.embedding_models.signs_rows IS 'How many vectors there were when signs_recall was measured.';
COMMENT ON COLUMN hippocampus.embedding_models.model IS
    'Whose vectors these are; null until a writer names one. Vectors of another model are refused (HC014); those of a writer that names none are taken for its own.';

-- The dimension is the migration's argument: `migrate up --dimension N`, 1536 when not given.
INSERT INTO hippocampus.embedding_models (generation, dimension, status)
VALUES (1, coalesce(nullif(current_setting('hippocampus.embedding_dimension', true), ''), '1536')::integer, 'serving');

CREATE TABLE hippocampus.embeddings (
    generation integer NOT NULL DEFAULT 1,
    dimension  integer NOT NULL,
    row_id     uuid NOT NULL,
    user_id    text COLLATE "C" NOT NULL,
    app_name   text COLLATE "C" NOT NULL,
    source     text COLLATE "C" NOT NULL,
    embedding  public.halfvec NOT NULL,
    signs      bit varying GENERATED ALWAYS AS (public.binary_quantize(embedding)) STORED,
    CONSTRAINT embeddings_pkey PRIMARY KEY (user_id, app_name, generation, source, row_id) INCLUDE (signs),
    CONSTRAINT embeddings_generation_fkey FOREIGN KEY (generation, dimension)
        REFERENCES hippocampus.embedding_models (generation, dimension),
    CONSTRAINT embeddings_dimension_check CHECK (public.vector_dims(embedding) = dimension),
    -- or what one user shares would come first in every search of others, whose score is a product with it
    CONSTRAINT embeddings_length_check CHECK (public.l2_norm(embedding) BETWEEN 0.95 AND 1.05),
    CONSTRAINT embeddings_source_check CHECK (source IN ('memory', 'fact', 'chunk', 'anchor', 'store'))
)
-- A row of more than 2 kB has its small columns moved out too, and every row that a search looks at would fetch
-- its user's name from elsewhere. So nothing leaves a row that fits a page.
WITH (toast_tuple_target = 8160);
ALTER TABLE hippocampus.embeddings ALTER COLUMN embedding SET STORAGE PLAIN;
COMMENT ON COLUMN hippocampus.embeddings.signs IS 'Which dimensions of the vector are positive.';
CREATE INDEX embeddings_row_id_idx ON hippocampus.embeddings (row_id);
COMMENT ON TABLE hippocampus.embeddings IS
    'One vector a generation and row of a source (memories, facts, chunks, anchors, the store), of unit length, in half precision. Written by put_embedding.';

CREATE TABLE hippocampus.embedding_queue (
    queued_at timestamptz NOT NULL DEFAULT now(),
    run_after timestamptz NOT NULL DEFAULT now(),
    attempts  integer NOT NULL DEFAULT 0,
    row_id    uuid NOT NULL,
    user_id   text COLLATE "C" NOT NULL,
    app_name  text COLLATE "C" NOT NULL,
    source    text COLLATE "C" NOT NULL,
    error     text,
    CONSTRAINT embedding_queue_pkey PRIMARY KEY (row_id, user_id, app_name),
    CONSTRAINT embedding_queue_source_check CHECK (source IN ('memory', 'fact', 'chunk', 'anchor', 'store')),
    CONSTRAINT embedding_queue_attempts_check CHECK (attempts >= 0)
);
CREATE INDEX embedding_queue_run_after_idx ON hippocampus.embedding_queue (run_after);
COMMENT ON TABLE hippocampus.embedding_queue IS
    'Rows whose vector is still to come. Found by text meanwhile. A row that fails stays, with its error and the time of the next try.';

CREATE TABLE hippocampus.vector_indexes (
    created_at timestamptz NOT NULL DEFAULT now(),
    generation integer NOT NULL,
    user_id    text COLLATE "C" NOT NULL,
    app_name   text COLLATE "C" NOT NULL,
    source     text COLLATE "C" NOT NULL,
    status     text COLLATE "C" NOT NULL DEFAULT 'building',
    index_name text COLLATE "C" NOT NULL,
    CONSTRAINT vector_indexes_pkey PRIMARY KEY (user_id, app_name, generation, source),
    CONSTRAINT vector_indexes_generation_fkey FOREIGN KEY (generation)
        REFERENCES hippocampus.embedding_models (generation),
    CONSTRAINT vector_indexes_source_check CHECK (source IN ('memory', 'fact', 'chunk', 'anchor')),
    CONSTRAINT vector_indexes_status_check CHECK (status IN ('building', 'ready'))
);
CREATE INDEX vector_indexes_generation_idx ON hippocampus.vector_indexes (generation);
COMMENT ON TABLE hippocampus.vector_indexes IS
    'Tenants so large that an exact search would be slow: each has an HNSW index of its own, built online by a job.';
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DROP TABLE hippocampus.vector_indexes, hippocampus.embedding_queue, hippocampus.embeddings,
    hippocampus.embedding_models, hippocampus.posting_totals, hippocampus.unindexed_rows, hippocampus.postings, hippocampus.row_terms;
-- +goose StatementEnd
