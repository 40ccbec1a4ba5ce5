-- Names what an app's retention policies say, so that an instant that was predicted by others is known to be of the
-- past, whichever row changed, came or went, and by whatever way. Never 0, which a memory has that nothing was
-- predicted of.
CREATE OR REPLACE FUNCTION hippocampus._retention_hash(
    p_app_name text
) RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT (coalesce(bit_xor(hash_record_extended(ROW (p.app_name = '*', p.memory_type, p.category, p.model, p.decay_rate,
        p.threshold, p.initial_weight, p.min_age_days), 0)), 0) & 4611686018427387903) | 1
    FROM hippocampus.retention_policies p WHERE p.app_name IN (p_app_name, '*');
END;
COMMENT ON FUNCTION hippocampus._retention_hash IS 'A number for what an app''s retention policies say: another one where they say something else.';
REVOKE ALL ON FUNCTION hippocampus._retention_hash FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._retention_hash TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
