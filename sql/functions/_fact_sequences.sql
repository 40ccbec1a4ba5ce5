CREATE OR REPLACE FUNCTION hippocampus._fact_sequences(
    p_fact jsonb
) RETURNS bigint[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT ARRAY(SELECT s.value::bigint FROM jsonb_array_elements(coalesce(nullif(p_fact -> 'sequences', 'null'), '[]')) s);
END;
COMMENT ON FUNCTION hippocampus._fact_sequences IS 'The events of its thread that a stated fact was drawn from.';
REVOKE ALL ON FUNCTION hippocampus._fact_sequences FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._fact_sequences TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
