-- Writes terms of a rebuild's vocabulary. One that is there keeps its row, and its vector. Denied terms and what can
-- be no anchor are passed over. Returns those that have no vector yet.
CREATE OR REPLACE FUNCTION hippocampus._put_anchors(
    p_user_id text,
    p_app_name text,
    p_token uuid,
    p_lease_seconds double precision,
    p_terms jsonb
) RETURNS SETOF hippocampus.anchors
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 100
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_building integer := hippocampus._hold_anchor_build(p_user_id, p_app_name, p_token, p_lease_seconds);
    v_config regconfig := hippocampus._text_config(p_app_name);
BEGIN
    RETURN QUERY
    WITH told AS (
        SELECT DISTINCT ON (k.key) k.key, t.term, t.kind, t.df, coalesce(t.witnesses, '{}') AS said_by
        FROM ROWS FROM (jsonb_to_recordset(p_terms) AS (term text, kind text, df integer, witnesses uuid[]))
            WITH ORDINALITY AS t (term, kind, df, witnesses, n)
        CROSS JOIN LATERAL (SELECT hippocampus._anchor_key(t.term, v_config) AS key) k
        WHERE k.key IS NOT NULL AND NOT EXISTS (SELECT FROM hippocampus.anchor_denials d
            WHERE d.user_id = p_user_id AND d.app_name = p_app_name AND d.key = k.key)
        ORDER BY k.key, t.n
    ), chunks AS MATERIALIZED ( -- held, so that who deletes one comes after and finds its anchors
        SELECT c.id FROM hippocampus.chunks c
        WHERE c.id IN (SELECT unnest(t.said_by) FROM told t) AND c.user_id = p_user_id AND c.app_name = p_app_name
        FOR KEY SHARE SKIP LOCKED
    ), memories AS MATERIALIZED (
        SELECT m.id FROM hippocampus.memories m
        WHERE m.id IN (SELECT unnest(t.said_by) FROM told t) AND m.user_id = p_user_id AND m.app_name = p_app_name
        FOR KEY SHARE SKIP LOCKED
    ), witnessed AS (
        SELECT t.*, w.witnesses FROM told t CROSS JOIN LATERAL (
            SELECT coalesce(array_agg(u.id), '{}') AS witnesses FROM unnest(t.said_by) AS u (id)
            WHERE u.id IN (SELECT c.id FROM chunks c UNION ALL SELECT m.id FROM memories m)) w
        WHERE cardinality(t.said_by) = 0 OR cardinality(w.witnesses) > 0
    ), written AS (
        INSERT INTO hippocampus.anchors AS a (since, until, df, user_id, app_name, key, kind, term, witnesses)
        SELECT v_building, v_building, t.df, p_user_id, p_app_name, t.key, t.kind, t.term, t.witnesses FROM witnessed t
        ON CONFLICT (user_id, app_name, key) DO UPDATE SET until = v_building, df = excluded.df, kind = excluded.kind,
            witnesses = excluded.witnesses WHERE a.until < v_building -- the first term of a key in a rebuild is its anchor
        RETURNING a.*
    )
    SELECT w.* FROM written w
    WHERE NOT EXISTS (SELECT FROM hippocampus.embeddings e
        JOIN hippocampus._query_generation(NULL) g ON g.generation = e.generation
        WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND e.source = 'anchor' AND e.row_id = w.id);
END
$fn$;
COMMENT ON FUNCTION hippocampus._put_anchors IS
    'Writes terms of a rebuild''s vocabulary: [{term, kind, df, witnesses}]; returns the anchors that have no vector yet.';
REVOKE ALL ON FUNCTION hippocampus._put_anchors FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._put_anchors
    TO hippocampus_service, hippocampus_worker;
