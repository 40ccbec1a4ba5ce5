-- The current facts that a new one may repeat or replace: the five nearest in meaning, the one of its key, and
-- any of the same words; each with what is known of how they relate:
--   DUPLICATE   nearer than the band duplicate, with the same numbers and denials
--   NEW         farther than the band ask, under another key
--   a decision  in between, or of the same key: what p_decisions say of its text; null where they say nothing
-- A key that many share (p_shared_key: the field of a lesson) is no key of its own: another value under it is no
-- contradiction by that. Only facts of p_types are looked at.
CREATE OR REPLACE FUNCTION hippocampus._fact_candidates(
    p_user_id text,
    p_app_name text,
    p_key text,
    p_fact_type text,
    p_value jsonb,
    p_embedding public.vector,
    p_decisions jsonb,
    p_types text[],
    p_shared_key boolean
) RETURNS TABLE (id uuid, fact_text text, similarity double precision, same_key boolean, same_words boolean, relation text, reason text, decided_by text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 5
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_serving hippocampus.embedding_models;
    v_query public.halfvec;
    v_bands jsonb := hippocampus._bands(p_app_name);
    v_text text := hippocampus._fact_text(p_key, p_value);
BEGIN
    v_serving := hippocampus._query_generation(public.vector_dims(p_embedding));
    v_query := hippocampus._unit_vector('p_embedding', p_embedding, v_serving.dimension);
    RETURN QUERY
    WITH known AS (
        SELECT f.id, f.key, f.value, NOT p_shared_key AND f.fact_type = p_fact_type AND f.key = p_key AS same_key,
            CASE WHEN regexp_replace(f.key, '_[0-9]+$', '') <> regexp_replace(p_key, '_[0-9]+$', '') THEN false
                WHEN jsonb_typeof(f.value) = 'string' AND jsonb_typeof(p_value) = 'string'
                    THEN hippocampus._content_hash(f.value #>> '{}') = hippocampus._content_hash(p_value #>> '{}')
                ELSE f.value = p_value END AS same_words,
            -(e.embedding OPERATOR(public.<#>) v_query) AS near
        FROM hippocampus.facts f
        LEFT JOIN hippocampus.embeddings e ON v_query IS NOT NULL AND e.user_id = f.user_id AND e.app_name = f.app_name
            AND e.generation = v_serving.generation AND e.source = 'fact' AND e.row_id = f.id
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.valid_until IS NULL
          AND f.fact_type = ANY (p_types)
    ), nearest AS (
        SELECT k.* FROM known k WHERE k.near IS NOT NULL ORDER BY k.near DESC, k.id LIMIT 5
    ), candidates AS (
        SELECT n.* FROM nearest n
        UNION SELECT k.* FROM known k WHERE k.same_key OR k.same_words
    )
    SELECT c.id, t.text, s.similarity, c.same_key, c.same_words,
        CASE WHEN c.same_words OR s.similarity > (v_bands ->> 'duplicate')::double precision
                AND hippocampus._fact_marks(c.value #>> '{}') = hippocampus._fact_marks(p_value #>> '{}') THEN 'DUPLICATE'
            WHEN c.same_key OR s.similarity >= (v_bands ->> 'ask')::double precision THEN d.value ->> 'relation'
            ELSE 'NEW' END,
        d.value ->> 'reason', d.value ->> 'decided_by'
    FROM candidates c
    CROSS JOIN LATERAL (SELECT hippocampus._fact_text(c.key, c.value) AS text) t
    CROSS JOIN LATERAL (SELECT CASE WHEN c.same_words THEN 1 ELSE greatest(0, least(1, coalesce(c.near, 0))) END AS similarity) s
    LEFT JOIN LATERAL (SELECT j.value FROM jsonb_array_elements(coalesce(p_decisions, '[]')) j
                       WHERE j.value ->> 'old' = t.text AND coalesce(j.value ->> 'new', v_text) = v_text LIMIT 1) d ON true
    ORDER BY s.similarity DESC, c.same_key DESC, c.id;
END
$fn$;
COMMENT ON FUNCTION hippocampus._fact_candidates IS 'The current facts that a new one may repeat or replace, and how they relate.';
REVOKE ALL ON FUNCTION hippocampus._fact_candidates FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._fact_candidates
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
