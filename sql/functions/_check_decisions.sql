-- Refuses a decision on two facts that says nothing: without the old one's text or a relation, or with what is no text.
CREATE OR REPLACE FUNCTION hippocampus._check_decisions(
    p_position integer,
    p_decisions jsonb
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_decision record;
    v_part record;
BEGIN
    FOR v_decision IN SELECT d.value, format('p_facts[%s].decisions[%s]', p_position, d.n) AS name
                      FROM jsonb_array_elements(p_decisions) WITH ORDINALITY AS d (value, n) LOOP
        IF jsonb_typeof(v_decision.value) <> 'object' THEN
            RAISE EXCEPTION '% is %', v_decision.name, left(v_decision.value::text, 100)
                USING ERRCODE = 'HC009', HINT = 'Give an object: {"old": "location: Rome", "relation": "SUPERSEDES", "reason": "moved"}.';
        END IF;
        FOR v_part IN SELECT e.key, e.value FROM jsonb_each(v_decision.value) e LOOP
            PERFORM hippocampus._check_one_of('a part of ' || v_decision.name, v_part.key,
                ARRAY['old', 'new', 'relation', 'reason', 'decided_by']);
            CONTINUE WHEN v_part.value = 'null';
            PERFORM hippocampus._check_json_text(v_decision.name || '.' || v_part.key, v_part.value, 0, 1048576);
        END LOOP;
        PERFORM hippocampus._check_json_text(v_decision.name || '.old', v_decision.value -> 'old', 1, 1048576);
        PERFORM hippocampus._check_one_of(v_decision.name || '.relation', v_decision.value ->> 'relation',
            ARRAY['DUPLICATE', 'SUPERSEDES', 'DISTINCT']);
    END LOOP;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_decisions IS 'Raises HC009 for a decision of remember_facts that is not well formed.';
REVOKE ALL ON FUNCTION hippocampus._check_decisions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_decisions TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
