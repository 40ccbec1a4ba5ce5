-- The anchors of a generation nearest to a vector, at most p_limit. Anchors of another generation, being built or left
-- by one that was stopped, and denied ones take no place among them: where they were near, it looks further.
-- Not for parallel queries, see _vector_hits.
CREATE OR REPLACE FUNCTION hippocampus._near_anchors(
    p_user_id text,
    p_app_name text,
    p_generation integer,
    p_embedding public.vector,
    p_theta double precision,
    p_limit integer,
    p_denied boolean
) RETURNS TABLE (id uuid, similarity double precision)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER ROWS 20
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $fn$
DECLARE
    v_reach integer := p_limit;
    v_further boolean;
    v_ids uuid[];
    v_near double precision[];
BEGIN
    LOOP
        SELECT array_agg(v.row_id ORDER BY v.similarity DESC, v.row_id) FILTER (WHERE a.id IS NOT NULL),
            array_agg(v.similarity ORDER BY v.similarity DESC, v.row_id) FILTER (WHERE a.id IS NOT NULL), count(*) = v_reach
        INTO v_ids, v_near, v_further
        FROM hippocampus._vector_hits(p_user_id, p_app_name, 'anchor', p_embedding, v_reach) v
        LEFT JOIN hippocampus.anchors a ON a.id = v.row_id AND a.user_id = p_user_id AND a.app_name = p_app_name
            AND a.since <= p_generation AND a.until >= p_generation AND (p_denied OR NOT EXISTS (
                SELECT FROM hippocampus.anchor_denials d WHERE d.user_id = p_user_id AND d.app_name = p_app_name AND d.key = a.key))
        WHERE v.similarity >= p_theta;
        EXIT WHEN NOT v_further OR coalesce(cardinality(v_ids), 0) >= p_limit;
        v_reach := 4 * v_reach;
    END LOOP;
    RETURN QUERY SELECT n.id, n.similarity FROM unnest(v_ids[:p_limit], v_near[:p_limit]) AS n (id, similarity);
END
$fn$;
COMMENT ON FUNCTION hippocampus._near_anchors IS
    'The anchors of a generation nearest to a vector, with p_denied also those that are denied.';
REVOKE ALL ON FUNCTION hippocampus._near_anchors FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._near_anchors
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
