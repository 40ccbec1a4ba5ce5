-- Whether a value passes a filter: each of its fields is the same as, or stands in the relation to, what the
-- filter has for it. Numbers compare as numbers (9 < 10), strings by their bytes, and never the one with the
-- other. A field that is not there passes no test, $ne included.
CREATE OR REPLACE FUNCTION hippocampus._store_matches(
    p_value jsonb,
    p_filter jsonb
) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT coalesce(bool_and(coalesce(CASE
        WHEN t.operator = '$eq' THEN t.field = t.operand
        WHEN t.operator = '$ne' THEN t.field <> t.operand
        WHEN jsonb_typeof(t.field) IS DISTINCT FROM jsonb_typeof(t.operand) THEN false
        ELSE CASE WHEN jsonb_typeof(t.field) = 'string'
            THEN CASE WHEN t.field #>> '{}' < t.operand #>> '{}' COLLATE "C" THEN -1
                WHEN t.field #>> '{}' > t.operand #>> '{}' COLLATE "C" THEN 1 ELSE 0 END
            ELSE CASE WHEN t.field < t.operand THEN -1 WHEN t.field > t.operand THEN 1 ELSE 0 END
        END = ANY (CASE t.operator WHEN '$gt' THEN '{1}'::integer[] WHEN '$gte' THEN '{0,1}' WHEN '$lt' THEN '{-1}' ELSE '{-1,0}' END)
    END, false)), true)
    FROM (
        SELECT p_value -> f.key AS field, coalesce(o.operator, '$eq') AS operator, coalesce(o.operand, f.value) AS operand
        FROM jsonb_each(p_filter) f
        LEFT JOIN LATERAL (
            SELECT e.key AS operator, e.value AS operand
            FROM jsonb_each(CASE WHEN jsonb_typeof(f.value) = 'object' THEN f.value ELSE '{}' END) e
            WHERE e.key LIKE '$%') o ON true
    ) t;
END;
COMMENT ON FUNCTION hippocampus._store_matches IS 'Whether a value of the store passes a filter that _check_filter let through.';
REVOKE ALL ON FUNCTION hippocampus._store_matches FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._store_matches TO hippocampus_reader, hippocampus_tenant, hippocampus_service;
