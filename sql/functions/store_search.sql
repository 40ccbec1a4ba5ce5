-- Finds items below a namespace. Without a question they come newest first; with one, best first, those that
-- hold a word of it or are near to it in meaning. An item whose vector is still to come counts as near in meaning
-- as it is in words. Reads only; let items live their time again with store_refresh.
CREATE OR REPLACE FUNCTION hippocampus.store_search(
    p_user_id text,
    p_app_name text,
    p_namespace_prefix text[] DEFAULT '{}',
    p_query text DEFAULT NULL,
    p_query_embedding public.vector DEFAULT NULL,
    p_filter jsonb DEFAULT '{}',
    p_limit integer DEFAULT 10,
    p_offset integer DEFAULT 0,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.store_entries
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_prefix text[] := hippocampus._check_namespace('p_namespace_prefix', p_namespace_prefix, true);
    v_from text;
    v_until text;
    v_filter jsonb := hippocampus._check_filter(p_filter);
    v_terms text[];
    v_serving hippocampus.embedding_models;
    v_weights jsonb;
    v_text double precision;
    v_vector double precision;
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_limit', p_limit, 0, 10000);
    PERFORM hippocampus._check_range('p_offset', p_offset, 0, 1000000000);
    PERFORM hippocampus._check_time('p_now', p_now);
    SELECT r.from_path, r.until_path INTO v_from, v_until FROM hippocampus._namespace_range(v_prefix) r;
    v_terms := hippocampus._query_terms(p_app_name, p_query);
    v_serving := hippocampus._query_generation(public.vector_dims(p_query_embedding));
    PERFORM hippocampus._unit_vector('p_query_embedding', p_query_embedding, v_serving.dimension);
    v_weights := hippocampus._ranking(p_app_name, 'default', v_serving.model);
    v_text := coalesce(v_weights -> 'text', '0');
    v_vector := coalesce(v_weights -> 'vector', '0');
    RETURN QUERY
    WITH words AS MATERIALIZED (
        SELECT e.row_id, e.own FROM hippocampus._evidence(p_user_id, p_app_name, 'store', v_terms, NULL) e
    ), meaning AS MATERIALIZED (
        SELECT v.row_id, v.similarity FROM hippocampus._store_near(p_user_id, p_app_name, p_query_embedding, v_from, v_until) v
    ), candidates AS (
        SELECT w.row_id FROM words w
        UNION SELECT n.row_id FROM meaning n
        UNION SELECT s.id FROM hippocampus.store_items s
        WHERE p_query_embedding IS NULL AND cardinality(v_terms) = 0
          AND s.user_id = p_user_id AND s.app_name = p_app_name AND s.path >= v_from AND s.path < v_until
    ), parts AS (
        SELECT s.*, n.similarity, w.own / max(w.own) OVER () AS words
        FROM candidates c
        JOIN hippocampus.store_items s ON s.id = c.row_id AND s.user_id = p_user_id AND s.app_name = p_app_name
        LEFT JOIN words w ON w.row_id = c.row_id
        LEFT JOIN meaning n ON n.row_id = c.row_id
        WHERE s.path >= v_from AND s.path < v_until AND (s.expires_at IS NULL OR s.expires_at > p_now)
          AND hippocampus._namespace_matches(s.namespace, v_prefix) AND (v_filter = '{}' OR hippocampus._store_matches(s.value, v_filter))
    ), scored AS (
        SELECT p.*, CASE WHEN cardinality(v_terms) = 0 THEN p.similarity WHEN p_query_embedding IS NULL THEN p.words
            ELSE coalesce((v_text * coalesce(p.words, 0) + v_vector * coalesce(p.similarity, p.words)) / nullif(v_text + v_vector, 0), p.words, 0)
            END AS score
        FROM parts p
    )
    SELECT r.namespace, r.key, r.value, r.created_at, r.updated_at, r.expires_at, r.score FROM scored r
    ORDER BY r.score DESC NULLS LAST, r.updated_at DESC, r.path, r.key LIMIT p_limit OFFSET p_offset;
END
$fn$;
COMMENT ON FUNCTION hippocampus.store_search IS
    'Items whose namespace begins with segments (* for any one; none for all), that pass p_filter: {"colour": "red", "price": {"$gte": 10}} with $eq, $ne, $gt, $gte, $lt, $lte, numbers as numbers. Newest first; with p_query or p_query_embedding best first, with a score.';
REVOKE ALL ON FUNCTION hippocampus.store_search FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.store_search TO hippocampus_reader, hippocampus_tenant, hippocampus_service;
