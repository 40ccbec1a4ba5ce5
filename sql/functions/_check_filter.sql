-- Refuses a filter that would silently find nothing: an operator that is unknown or mixed with names, and an
-- order asked of what has none. Gives the filter; null is the empty one.
CREATE OR REPLACE FUNCTION hippocampus._check_filter(
    p_filter jsonb
) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_filter jsonb := hippocampus._check_object('p_filter', p_filter, 65536);
    v_test record;
BEGIN
    SELECT f.key AS field INTO v_test FROM jsonb_object_keys(v_filter) AS f (key) WHERE f.key LIKE '$%' LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'p_filter asks for the field %', quote_literal(left(v_test.field, 100))
            USING ERRCODE = 'HC009', HINT = 'An operator stands within a field: {"price": {"$gte": 10}}.';
    END IF;
    FOR v_test IN
        SELECT f.key AS field, o.key AS operator, o.value AS operand
        FROM jsonb_each(v_filter) f
        CROSS JOIN LATERAL (
            SELECT e.key, e.value, bool_or(e.key LIKE '$%') OVER () AS asks
            FROM jsonb_each(CASE WHEN jsonb_typeof(f.value) = 'object' THEN f.value ELSE '{}' END) e) o
        WHERE o.asks
    LOOP
        PERFORM hippocampus._check_one_of(format('an operator of p_filter''s %L', left(v_test.field, 100)), v_test.operator,
            ARRAY['$eq', '$ne', '$gt', '$gte', '$lt', '$lte']);
        IF v_test.operator NOT IN ('$eq', '$ne') AND jsonb_typeof(v_test.operand) NOT IN ('number', 'string', 'boolean') THEN
            RAISE EXCEPTION 'p_filter asks for % % %', quote_literal(left(v_test.field, 100)), v_test.operator,
                    left(v_test.operand::text, 100)
                USING ERRCODE = 'HC009', HINT = 'Give a number, a string or a boolean: nothing else has an order.';
        END IF;
    END LOOP;
    RETURN v_filter;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_filter IS
    'A filter of the store''s search, empty for null. Raises HC009 for an operator that is unknown or has no such operand.';
REVOKE ALL ON FUNCTION hippocampus._check_filter FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_filter TO hippocampus_reader, hippocampus_tenant, hippocampus_service;
