-- Refuses a write of a row that somebody else wrote since its writer read it. Called after the write, with the
-- version that came of it: so there is no moment between the look and the write.
CREATE OR REPLACE FUNCTION hippocampus._check_version(
    p_what text,
    p_written bigint,
    p_expected bigint
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF p_written - 1 <> p_expected THEN
        RAISE EXCEPTION '% is at version %, not %', p_what, p_written - 1, p_expected
            USING ERRCODE = 'HC008', HINT = 'Somebody else wrote it; read it again and retry.';
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_version IS 'Raises HC008 where a row was written from another version than the one expected; null expects any.';
REVOKE ALL ON FUNCTION hippocampus._check_version FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_version TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
