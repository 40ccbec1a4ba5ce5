-- Hybrid search over a tenant's memories: words (BM25 over the index of words) and meaning (vectors), merged here, with
-- retention and recency. Both arms see the whole tenant; a memory that only one arm found gets the other's
-- score all the same (see _search_parts).
-- Of what holds a word, that of the time which the question asks about is preferred (see _asked_time), and what is said
-- by whom it names. Of one conversation each further memory takes a little less: the next may hold what is missing.
-- What is never returned takes no place in an arm: a superseded memory, and whatever a filter or the profile
-- leaves out. Anchors are a third arm where p_project_anchors asks for it, though with no name in it. Reads only; count a
-- use with record_access. Not for parallel queries, see _vector_hits.
CREATE OR REPLACE FUNCTION hippocampus.search_memory(
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
) RETURNS SETOF hippocampus.memory_hits
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $fn$
DECLARE
    v_weights jsonb;
    v_evidence jsonb := coalesce(hippocampus._setting(p_app_name, 'evidence'), '{}');
    v_author double precision := coalesce(v_evidence -> 'author', '0');
    v_time double precision := coalesce(v_evidence -> 'time', '0');
    v_meaning double precision := CASE WHEN p_profile = 'default' THEN coalesce((v_evidence -> 'meaning')::double precision, 0) ELSE 0 END;
    v_spread double precision := CASE WHEN p_profile = 'default' THEN coalesce((v_evidence -> 'spread')::double precision, 0) ELSE 0 END;
    v_text double precision;
    v_vector double precision;
    v_strength double precision;
    v_recency double precision;
    v_when tstzrange; -- the time that the question asks about
    v_serving hippocampus.embedding_models;
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_limit', p_limit, 0, 10000);
    PERFORM hippocampus._check_range('p_min_relevance', p_min_relevance, 0, 1);
    PERFORM hippocampus._check_range('p_min_importance', p_min_importance, 0, 1);
    PERFORM hippocampus._check_one_of('p_profile', p_profile, ARRAY['default', 'strength', 'retention']);
    PERFORM hippocampus._check_each_of('p_memory_types', p_memory_types, ARRAY['episodic', 'semantic', 'summary']);
    PERFORM hippocampus._check_each_of('p_categories', p_categories,
        ARRAY['chat', 'observation', 'task', 'decision', 'tool-use', 'error', 'insight', 'other']);
    PERFORM hippocampus._check_tags('p_tags', p_tags);
    PERFORM hippocampus._check_time('p_now', p_now);
    v_serving := hippocampus._query_generation(public.vector_dims(p_query_embedding));
    v_weights := hippocampus._ranking(p_app_name, p_profile, v_serving.model);
    v_text := coalesce(v_weights -> 'text', '0');
    v_vector := coalesce(v_weights -> 'vector', '0');
    v_strength := coalesce(v_weights -> 'strength', '0');
    v_recency := coalesce(v_weights -> 'recency', '0');
    IF v_time > 0 THEN
        SELECT a.during, a.share * v_time INTO v_when, v_time FROM hippocampus._asked_time(p_user_id, p_app_name, p_query, p_now) a;
    END IF;
    RETURN QUERY
    WITH ranked AS (
        SELECT s.*, w.text_score, coalesce((v_text * w.text_score + v_vector * n.meaning) / nullif(v_text + v_vector, 0), 0) AS relevance,
            CASE p_profile WHEN 'retention' THEN s.vector_score * s.retention
                ELSE v_text * w.text_score + v_vector * n.meaning
                    + v_strength * coalesce(s.strength, s.retention) + v_recency * s.recency END AS score
        FROM hippocampus._search_parts(p_user_id, p_app_name, p_query, p_query_embedding, p_limit, p_memory_types, p_categories,
            p_tags, p_thread_id, p_since, p_until, p_profile, p_now, p_project_anchors, p_min_importance, v_evidence, v_when, v_serving) s
        CROSS JOIN LATERAL (SELECT s.worth * (s.word_score * (1 - v_author) + CASE WHEN s.asked THEN v_author ELSE 0 END
            + CASE WHEN s.timely THEN v_time ELSE 0 END) / CASE WHEN v_when IS NULL THEN 1 ELSE 1 + v_time END AS text_score) w
        CROSS JOIN LATERAL (SELECT least(1, s.vector_score + v_meaning * s.nearby_score) AS meaning) n
    ), spaced AS MATERIALIZED (
        SELECT o.*, o.score - o.spread AS total FROM (
            SELECT r.*, CASE WHEN v_spread > 0 AND r.thread_id IS NOT NULL THEN v_spread * ln(row_number() OVER (
                PARTITION BY r.thread_id ORDER BY r.score DESC, r.occurred_until DESC, r.row_id)) ELSE 0 END AS spread
            FROM ranked r WHERE r.relevance >= p_min_relevance) o
        ORDER BY total DESC, o.occurred_until DESC, o.row_id LIMIT greatest(50, 2 * p_limit)
    ), heirs AS MATERIALIZED ( -- what tells a fact that holds goes before what told it otherwise, if the words found both
        SELECT h.row_id, max(o.total) AS total
        FROM (SELECT s.* FROM spaced s WHERE p_profile = 'default' AND s.from_seq IS NOT NULL
              ORDER BY s.total DESC, s.occurred_until DESC, s.row_id LIMIT least(50, p_limit)) o
        CROSS JOIN LATERAL hippocampus._heirs(p_user_id, p_app_name, o.thread_id, o.from_seq, o.to_seq) n
        JOIN spaced h ON h.thread_id = n.thread_id AND n.seq BETWEEN h.from_seq AND h.to_seq AND h.row_id <> o.row_id
            AND h.total <= o.total AND h.word_score > 0
        GROUP BY h.row_id
    ), top AS MATERIALIZED (
        SELECT s.*, coalesce(h.total + 1e-6, s.total) AS standing FROM spaced s LEFT JOIN heirs h ON h.row_id = s.row_id
        ORDER BY standing DESC, s.occurred_until DESC, s.row_id LIMIT p_limit
    )
    SELECT m.id, m.content, m.memory_type, m.category, t.standing, t.relevance, t.text_score, t.vector_score, t.retention, t.recency,
        t.word_score, t.worth, t.asked, t.timely, t.nearby_score, t.spread, t.standing - t.total,
        m.thread_id, m.from_seq, m.to_seq, m.author, m.source, m.occurred_from, m.occurred_until, m.created_at,
        m.access_count, m.token_count, m.token_count_exact, m.tags, m.metadata, m.content_hash, m.trust
    FROM top t
    CROSS JOIN LATERAL hippocampus._memory_row(p_user_id, p_app_name, t.row_id) m
    ORDER BY t.standing DESC, t.occurred_until DESC, t.row_id;
END
$fn$;
COMMENT ON FUNCTION hippocampus.search_memory IS
    'Searches a user''s memories by words and, where p_query_embedding is given, by meaning; returns the best with every part of their score. Filters: types, categories, tags (all of them), thread, time, importance (with use counted in). p_profile: default (the setting ranking/MODEL, or ranking), strength (0.6·similarity + 0.3·strength + 0.1·recency), retention (similarity · retention). Without memories whose policy is of the model strength and whose strength is below 0.05. A day or week that the query names (last week, 5月8日), resolved against p_now, is evidence, and so is a time that it tells by an event which a memory dates (before I moved, 结婚以后). p_project_anchors asks for memories by the anchors of the query and of what is being talked about too (see lookup_anchors); null asks for none. An empty query without a vector lists the strongest and newest.';
REVOKE ALL ON FUNCTION hippocampus.search_memory FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.search_memory
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
