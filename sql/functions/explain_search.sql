-- Why a search finds what it finds: the query's words with what each weighs, the time that it asks about (if that has a weight), the weights and
-- which setting they come from; and for each hit what every part gave to its score, which of the query's words stand
-- in it, and which in the two turns on each side. Takes what search_memory takes.
CREATE OR REPLACE FUNCTION hippocampus.explain_search(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_query_embedding public.vector DEFAULT NULL,
    p_limit integer DEFAULT 10,
    p_memory_types text[] DEFAULT NULL,
    p_categories text[] DEFAULT NULL,
    p_tags text[] DEFAULT NULL,
    p_thread_id uuid DEFAULT NULL,
    p_since timestamptz DEFAULT NULL,
    p_until timestamptz DEFAULT NULL,
    p_min_relevance double precision DEFAULT 0,
    p_profile text DEFAULT 'default',
    p_now timestamptz DEFAULT now(),
    p_project_anchors text[] DEFAULT NULL,
    p_min_importance double precision DEFAULT 0
) RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_model text;
    v_weights jsonb;
    v_evidence jsonb := coalesce(hippocampus._setting(p_app_name, 'evidence'), '{}');
    v_rows double precision;
    v_when tstzrange; -- as far as the search looks at it
    v_all boolean; -- whether every word finds
    v_explained jsonb;
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_limit', p_limit, 0, 1000);
    PERFORM hippocampus._check_one_of('p_profile', p_profile, ARRAY['default', 'strength', 'retention']);
    v_model := (hippocampus._query_generation(public.vector_dims(p_query_embedding))).model;
    v_weights := hippocampus._ranking(p_app_name, p_profile, v_model);
    IF (v_evidence -> 'time')::double precision > 0 THEN
        v_when := (SELECT a.during FROM hippocampus._asked_time(p_user_id, p_app_name, p_query, p_now) a);
    END IF;
    v_all := hippocampus._leaves_out(p_app_name, p_memory_types, p_categories, p_tags, p_thread_id, p_since, p_until, p_min_importance);
    v_rows := (SELECT i.rows FROM hippocampus._indexed_rows(p_user_id, p_app_name, 'memory') i);
    WITH terms AS MATERIALIZED (
        SELECT w.* FROM hippocampus._term_weights(p_user_id, p_app_name, 'memory', hippocampus._query_terms(p_app_name, p_query), v_rows, v_all) w
    ), hits AS MATERIALIZED (
        SELECT row_number() OVER () AS rank, h.* FROM hippocampus.search_memory(p_user_id, p_app_name, p_query, p_query_embedding, p_limit,
            p_memory_types, p_categories, p_tags, p_thread_id, p_since, p_until, p_min_relevance, p_profile, p_now, p_project_anchors, p_min_importance) h
    ), words AS (
        SELECT h.memory_id, jsonb_agg(jsonb_build_object('term', t.term, 'tf', p.tf, 'idf', round(t.idf::numeric, 3)) ORDER BY t.idf DESC, t.term) AS own
        FROM hits h
        CROSS JOIN LATERAL hippocampus._terms_of(p_user_id, p_app_name, 'memory', h.memory_id) p
        JOIN terms t ON t.term = p.term
        GROUP BY h.memory_id
    ), around AS (
        SELECT h.memory_id, jsonb_agg(DISTINCT jsonb_build_object('term', t.term, 'step', n.from_seq - h.from_seq)) AS nearby
        FROM hits h
        JOIN hippocampus.memories n ON n.thread_id = h.thread_id AND n.user_id = p_user_id AND n.app_name = p_app_name AND n.memory_type = 'episodic'
            AND n.from_seq BETWEEN h.from_seq - 2 AND h.from_seq + 2 AND n.id <> h.memory_id
        CROSS JOIN LATERAL hippocampus._terms_of(p_user_id, p_app_name, 'memory', n.id) p
        JOIN terms t ON t.term = p.term
        WHERE h.memory_type = 'episodic'
        GROUP BY h.memory_id
    )
    SELECT jsonb_build_object(
        'query', jsonb_build_object('text', p_query, 'vector', p_query_embedding IS NOT NULL, 'profile', p_profile, 'time', v_when,
            'rows', v_rows, 'terms', coalesce((SELECT jsonb_agg(jsonb_build_object('term', t.term, 'df', round(t.df), 'idf', round(t.idf::numeric, 3), 'finds', t.finds)
                ORDER BY t.idf DESC, t.term) FROM terms t), '[]')),
        'weights', jsonb_build_object('ranking', v_weights, 'evidence', v_evidence,
            'from', hippocampus._ranking_origins(p_app_name, p_profile, v_model)),
        'hits', coalesce((SELECT jsonb_agg(jsonb_build_object('rank', h.rank, 'memory_id', h.memory_id, 'memory_type', h.memory_type,
                'author', h.author, 'occurred_from', h.occurred_from, 'content', left(h.content, 200), 'score', h.score, 'relevance', h.relevance,
                'parts', jsonb_build_object('word_score', h.word_score, 'asked', h.asked, 'timely', h.timely, 'worth', h.worth,
                    'text_score', h.text_score, 'vector_score', h.vector_score, 'nearby_score', h.nearby_score, 'retention', h.retention, 'recency', h.recency),
                'gave', CASE p_profile WHEN 'default' THEN jsonb_build_object(
                    'text', coalesce((v_weights -> 'text')::double precision, 0) * h.text_score,
                    'vector', coalesce((v_weights -> 'vector')::double precision, 0)
                        * least(1, h.vector_score + coalesce((v_evidence -> 'meaning')::double precision, 0) * h.nearby_score),
                    'strength', coalesce((v_weights -> 'strength')::double precision, 0) * h.retention,
                    'recency', coalesce((v_weights -> 'recency')::double precision, 0) * h.recency, 'spread', -h.spread, 'truth', h.lent) END,
                'words', coalesce(w.own, '[]'), 'nearby', coalesce(a.nearby, '[]')) ORDER BY h.rank)
            FROM hits h LEFT JOIN words w ON w.memory_id = h.memory_id LEFT JOIN around a ON a.memory_id = h.memory_id), '[]'))
    INTO v_explained;
    RETURN v_explained;
END
$fn$;
COMMENT ON FUNCTION hippocampus.explain_search IS
    'Why search_memory, which takes the same arguments, finds what it finds: the query''s words with df and idf, the weights and the setting that they come from, and for each hit what every part gave to its score and which of the words stand in it or beside it.';
REVOKE ALL ON FUNCTION hippocampus.explain_search FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.explain_search
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
