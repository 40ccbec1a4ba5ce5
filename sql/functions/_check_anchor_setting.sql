-- Refuses a value of the settings anchors and anchors/MODEL that their readers could not use.
CREATE OR REPLACE FUNCTION hippocampus._check_anchor_setting(
    p_key text,
    p_value jsonb
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_part record;
    v_number double precision;
BEGIN
    FOR v_part IN SELECT e.key, e.value FROM jsonb_each(p_value) e LOOP
        PERFORM hippocampus._check_one_of(format('a part of the setting %s', p_key), v_part.key,
            ARRAY['per_anchor', 'theta', 'semantic_theta', 'cap', 'anchor_weight', 'vocabulary']);
        v_number := hippocampus._json_number(v_part.value);
        PERFORM hippocampus._check_range(format('the part %s of the setting %s', v_part.key, p_key), v_number,
            CASE WHEN v_part.key IN ('per_anchor', 'cap', 'vocabulary') THEN 1 ELSE 0 END,
            CASE v_part.key WHEN 'per_anchor' THEN 1000 WHEN 'cap' THEN 1000 WHEN 'vocabulary' THEN 100000 ELSE 1 END);
        IF v_part.key IN ('per_anchor', 'cap', 'vocabulary') AND v_number <> floor(v_number) THEN
            RAISE EXCEPTION 'the part % of the setting % is %', v_part.key, p_key, v_number
                USING ERRCODE = 'HC009', HINT = 'Give a whole number.';
        END IF;
    END LOOP;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_anchor_setting IS
    'Raises HC009 for a part of the anchors'' settings that is unknown or out of range.';
REVOKE ALL ON FUNCTION hippocampus._check_anchor_setting FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_anchor_setting
    TO hippocampus_service, hippocampus_worker;
