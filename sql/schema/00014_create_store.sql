-- The store: values that an agent framework keeps by namespace and key, with an end where they have one.
--
-- A namespace is a list of segments. It is matched by segment, never by a pattern of text: «user_1» is not
-- «userX1». Under row-level security an index serves only operators that are leakproof, which those of arrays are
-- not and those of text are: so the key holds the namespace as a text (path, see _namespace_path), in which all
-- that begins with some segments is one range.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE hippocampus.store_items (
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    ttl        interval,
    id         uuid NOT NULL DEFAULT gen_random_uuid(),
    user_id    text COLLATE "C" NOT NULL,
    app_name   text COLLATE "C" NOT NULL,
    path       text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    namespace  text[] NOT NULL,
    value      jsonb NOT NULL,
    text       text NOT NULL DEFAULT '',
    CONSTRAINT store_items_pkey PRIMARY KEY (user_id, app_name, path, key),
    CONSTRAINT store_items_id_key UNIQUE (id, user_id, app_name),
    CONSTRAINT store_items_user_id_check CHECK (octet_length(user_id) BETWEEN 1 AND 255),
    CONSTRAINT store_items_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255 AND app_name <> '*'),
    CONSTRAINT store_items_path_check CHECK (octet_length(path) BETWEEN 2 AND 1024),
    CONSTRAINT store_items_key_check CHECK (octet_length(key) BETWEEN 1 AND 512),
    CONSTRAINT store_items_namespace_check CHECK (cardinality(namespace) BETWEEN 1 AND 32 AND array_ndims(namespace) = 1),
    CONSTRAINT store_items_value_check CHECK (jsonb_typeof(value) = 'object' AND pg_column_size(value) <= 1048576),
    CONSTRAINT store_items_text_check CHECK (octet_length(text) <= 1048576),
    CONSTRAINT store_items_ttl_check CHECK ((ttl IS NULL) = (expires_at IS NULL) AND ttl > interval '0'),
    CONSTRAINT store_items_times_check CHECK (
        isfinite(created_at) AND isfinite(updated_at) AND isfinite(coalesce(expires_at, updated_at)))
);
CREATE INDEX store_items_expires_at_idx ON hippocampus.store_items (expires_at) WHERE expires_at IS NOT NULL;
COMMENT ON TABLE hippocampus.store_items IS
    'Values by namespace and key, as agent frameworks keep them. One past expires_at is never returned, whether it was swept or not.';
COMMENT ON COLUMN hippocampus.store_items.path IS 'The namespace as a text whose order is the segments'' own: see _namespace_path.';
COMMENT ON COLUMN hippocampus.store_items.id IS
    'What the index of words and the vector know it by. Another text is another row with another id, so that a vector of the old text cannot come late.';
COMMENT ON COLUMN hippocampus.store_items.text IS 'What of the value is searched: see store_put''s p_index. Empty where nothing is.';
COMMENT ON COLUMN hippocampus.store_items.ttl IS 'How long it lives after a write, or after a read that refreshes it; null for ever.';

CREATE VIEW hippocampus.store_entries WITH (security_invoker = true) AS
SELECT s.namespace, s.key, s.value, s.created_at, s.updated_at, s.expires_at, NULL::double precision AS score
FROM hippocampus.store_items s WHERE false;
COMMENT ON VIEW hippocampus.store_entries IS
    'What the store''s functions return: an item, and where something was asked for, how well it answers.';

CREATE VIEW hippocampus.store_namespaces WITH (security_invoker = true) AS
SELECT s.namespace FROM hippocampus.store_items s WHERE false;
COMMENT ON VIEW hippocampus.store_namespaces IS 'What store_list_namespaces returns.';

ALTER TABLE hippocampus.store_items ENABLE ROW LEVEL SECURITY;
ALTER TABLE hippocampus.store_items FORCE ROW LEVEL SECURITY;
CREATE POLICY store_items_trusted ON hippocampus.store_items
    TO hippocampus_owner, hippocampus_service, hippocampus_worker USING (true) WITH CHECK (true);
CREATE POLICY store_items_bound ON hippocampus.store_items TO hippocampus_tenant, hippocampus_reader
    USING (user_id = current_setting('hippocampus.user_id', true) AND app_name = current_setting('hippocampus.app_name', true));

GRANT SELECT ON hippocampus.store_items, hippocampus.store_entries, hippocampus.store_namespaces
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
GRANT INSERT, DELETE ON hippocampus.store_items TO hippocampus_tenant, hippocampus_service;
-- What is indexed does not change under the index: another text is another row.
GRANT UPDATE (updated_at, expires_at, ttl, value) ON hippocampus.store_items TO hippocampus_tenant, hippocampus_service;
-- The worker sweeps: it locks what it deletes.
GRANT DELETE, UPDATE (expires_at) ON hippocampus.store_items TO hippocampus_worker;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DROP VIEW hippocampus.store_namespaces, hippocampus.store_entries;
DROP TABLE hippocampus.store_items;
DELETE FROM hippocampus.unindexed_rows n USING hippocampus.row_terms r WHERE r.id = n.id AND r.source = 'store';
DELETE FROM hippocampus.row_terms WHERE source = 'store';
DELETE FROM hippocampus.postings WHERE source = 'store';
DELETE FROM hippocampus.posting_totals WHERE source = 'store';
DELETE FROM hippocampus.embeddings WHERE source = 'store';
DELETE FROM hippocampus.embedding_queue WHERE source = 'store';
-- +goose StatementEnd
