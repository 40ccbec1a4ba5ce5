-- Stores a document, or what it has become: of its chunks those that are the same words under the same headings stay,
-- with their vectors and their places in anchor lists; the others come and go. One of the same hash is left alone.
-- Two writers of one document follow each other at its row.
CREATE OR REPLACE FUNCTION hippocampus.put_document(
    p_user_id text,
    p_app_name text,
    p_path text,
    p_chunks jsonb,
    p_source text DEFAULT 'docs',
    p_title text DEFAULT '',
    p_kind text DEFAULT 'text',
    p_content_hash bytea DEFAULT NULL,
    p_metadata jsonb DEFAULT '{}',
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.document_changes
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_hash bytea;
    v_metadata jsonb;
    v_before hippocampus.documents;
    v_id uuid;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_chunks(p_path, p_chunks, p_source, p_title, p_kind);
    v_metadata := hippocampus._check_object('p_metadata', p_metadata, 65536);
    PERFORM hippocampus._check_time('p_now', p_now);
    IF octet_length(p_content_hash) <> 32 THEN
        RAISE EXCEPTION 'p_content_hash is % bytes long', octet_length(p_content_hash)
            USING ERRCODE = 'HC009', HINT = 'Give the 32 bytes of a SHA-256, or leave it out.';
    END IF;
    IF NOT hippocampus._source_allowed(p_user_id, p_app_name, p_source) THEN
        RAISE EXCEPTION 'the source % is not on the allowlist', quote_literal(p_source)
            USING ERRCODE = 'HC009', HINT = 'Nothing from it could be found. Allow it with put_source_allowlist, or leave it out.';
    END IF;
    v_hash := coalesce(p_content_hash, sha256(convert_to(p_chunks::text, 'UTF8')));
    SELECT d.* INTO v_before FROM hippocampus.documents d
    WHERE d.user_id = p_user_id AND d.app_name = p_app_name AND d.path = p_path FOR NO KEY UPDATE;
    IF (v_before.content_hash, v_before.source, v_before.title, v_before.kind, v_before.metadata) = (v_hash, p_source, p_title, p_kind, v_metadata) THEN
        RETURN QUERY SELECT v_before.id, 0, (SELECT count(*)::integer FROM hippocampus.chunks c
            WHERE c.document_id = v_before.id AND c.user_id = p_user_id AND c.app_name = p_app_name), 0, true;
        RETURN;
    END IF;
    INSERT INTO hippocampus.documents AS d (created_at, updated_at, user_id, app_name, path, source, kind, title, content_hash, metadata)
    VALUES (p_now, p_now, p_user_id, p_app_name, p_path, p_source, p_kind, p_title, v_hash, v_metadata)
    ON CONFLICT (user_id, app_name, path) DO UPDATE SET updated_at = excluded.updated_at, source = excluded.source,
        kind = excluded.kind, title = excluded.title, content_hash = excluded.content_hash, metadata = excluded.metadata
    RETURNING d.id INTO v_id;
    -- before its first chunk can have a vector: see _extend_anchors
    INSERT INTO hippocampus.anchor_indexes (user_id, app_name) VALUES (p_user_id, p_app_name) ON CONFLICT DO NOTHING;
    RETURN QUERY
    WITH told AS (
        SELECT t.n, coalesce(t.chunk ->> 'heading', '') AS heading, t.chunk ->> 'content' AS content,
            (t.chunk ->> 'start_line')::integer AS start_line, (t.chunk ->> 'token_count')::integer AS token_count
        FROM jsonb_array_elements(p_chunks) WITH ORDINALITY AS t (chunk, n)
    ), wanted AS (
        SELECT t.*, h.hash, row_number() OVER (PARTITION BY h.hash ORDER BY t.n) AS twin
        FROM told t CROSS JOIN LATERAL (SELECT sha256(convert_to(t.heading || E'\n' || t.content, 'UTF8')) AS hash) h
    ), held AS (
        SELECT c.id, c.position, c.start_line, c.content_hash, row_number() OVER (PARTITION BY c.content_hash ORDER BY c.position) AS twin
        FROM hippocampus.chunks c WHERE c.document_id = v_id AND c.user_id = p_user_id AND c.app_name = p_app_name
    ), paired AS MATERIALIZED (
        SELECT h.id, w.n, w.start_line, w.n IS DISTINCT FROM h.position OR w.start_line IS DISTINCT FROM h.start_line AS moved,
            w.heading, w.content, w.hash, w.token_count
        FROM wanted w FULL JOIN held h ON h.content_hash = w.hash AND h.twin = w.twin
    ), gone AS (
        DELETE FROM hippocampus.chunks c USING paired p
        WHERE p.n IS NULL AND c.id = p.id AND c.user_id = p_user_id AND c.app_name = p_app_name
    ), moved AS (
        UPDATE hippocampus.chunks c SET position = p.n, start_line = p.start_line FROM paired p
        WHERE p.moved AND p.n IS NOT NULL AND c.id = p.id AND c.user_id = p_user_id AND c.app_name = p_app_name
    ), came AS (
        INSERT INTO hippocampus.chunks (created_at, position, start_line, token_count, document_id, user_id, app_name, heading, content, content_hash)
        SELECT p_now, p.n, p.start_line, coalesce(p.token_count, hippocampus.estimate_tokens(p.heading || E'\n' || p.content)), v_id,
            p_user_id, p_app_name, p.heading, p.content, p.hash
        FROM paired p WHERE p.id IS NULL
    )
    SELECT v_id, count(*) FILTER (WHERE p.id IS NULL)::integer, count(*) FILTER (WHERE num_nulls(p.id, p.n) = 0)::integer,
        count(*) FILTER (WHERE p.n IS NULL)::integer, false FROM paired p;
END
$fn$;
COMMENT ON FUNCTION hippocampus.put_document IS
    'Stores a document by its path: p_chunks is an array of {content, start_line, heading, token_count}, the last two optional. Chunks that are the same stay; returns what became of them. p_kind entity or project makes the title an anchor. p_content_hash is that of the file (default: of the chunks); the same again changes nothing. Raises HC009 for an argument that is not valid or a source that is not allowed, HC006 for a chunk of more than 64 KiB.';
REVOKE ALL ON FUNCTION hippocampus.put_document FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.put_document
    TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
