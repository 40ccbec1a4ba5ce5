-- How well what is no memory of one's own answers a question, by the weights of search_memory. What has no vector is as near in
-- meaning as it is in words.
CREATE OR REPLACE FUNCTION hippocampus._recollection_score(
    p_weights jsonb,
    p_word_score double precision,
    p_vector_score double precision,
    p_importance double precision,
    p_occurred_at timestamptz,
    p_now timestamptz
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT coalesce((p_weights -> 'text')::double precision, 0) * coalesce(p_word_score, 0)
        + coalesce((p_weights -> 'vector')::double precision, 0) * coalesce(p_vector_score, p_word_score, 0)
        + coalesce((p_weights -> 'strength')::double precision, 0) * p_importance
        + coalesce((p_weights -> 'recency')::double precision, 0)
            * exp(-least(700, 0.01 * greatest(0, extract(epoch FROM p_now - p_occurred_at)::double precision) / 86400));
END;
COMMENT ON FUNCTION hippocampus._recollection_score IS
    'The score of an event, or of what another user shares, by the weights of a search.';
REVOKE ALL ON FUNCTION hippocampus._recollection_score FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._recollection_score
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
