-- What held at a time is the value that began last before it, among those known. A row's end says more than
-- that only where nothing followed (the fact just ended, or what followed was forgotten); an end that was
-- learned after p_known_at was not known then. A row that ended when it began is a guess that never held, or
-- a value that was corrected later, and stood until then.
CREATE OR REPLACE FUNCTION hippocampus.facts_as_of(
    p_user_id text,
    p_app_name text,
    p_at timestamptz DEFAULT now(),
    p_known_at timestamptz DEFAULT NULL,
    p_fact_type text DEFAULT NULL,
    p_key text DEFAULT NULL
) RETURNS SETOF hippocampus.facts
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 50
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_at timestamptz := coalesce(p_at, now());
    v_known_at timestamptz := coalesce(p_known_at, 'infinity');
BEGIN
    PERFORM hippocampus._check_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_one_of('p_fact_type', coalesce(p_fact_type, 'custom'), ARRAY['preference', 'rule', 'profile', 'custom']);
    RETURN QUERY
    SELECT v.* FROM (
        SELECT DISTINCT ON (f.fact_type, f.key) f.* FROM hippocampus.facts f
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name
          AND (p_fact_type IS NULL OR f.fact_type = p_fact_type)
          AND (p_key IS NULL OR f.key = p_key)
          AND f.valid_from <= v_at AND f.recorded_at <= v_known_at
          AND (f.valid_until IS NULL OR f.valid_until > f.valid_from OR f.closed_at > v_known_at)
        ORDER BY f.fact_type, f.key, f.valid_from DESC, f.recorded_at DESC, f.id) v
    WHERE v.valid_until IS NULL OR v.valid_until > v_at OR v.closed_at > v_known_at
    ORDER BY v.fact_type, v.key;
END
$fn$;
COMMENT ON FUNCTION hippocampus.facts_as_of IS
    'The facts that were true at p_at, as far as was known at p_known_at (now, where null).';
REVOKE ALL ON FUNCTION hippocampus.facts_as_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.facts_as_of
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
