-- How HTML writes <, as a regular expression. Where no semicolon ends it, the white space after it is no part of it.
CREATE OR REPLACE FUNCTION hippocampus._fence_entity() RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT '&\s*(?:lt|#0*60|#x0*3c)(?:\s*;|(?!\s*;))';
END;
COMMENT ON FUNCTION hippocampus._fence_entity IS 'How HTML writes <, as a regular expression that is to be matched in any case.';
REVOKE ALL ON FUNCTION hippocampus._fence_entity FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._fence_entity
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
