-- A memory that is known by its id, none if it is gone. For use in FROM, where it is planned with the query; LIMIT, since as
-- a join it could be planned as a read of all that the user has.
CREATE OR REPLACE FUNCTION hippocampus._memory_row(
    p_user_id text,
    p_app_name text,
    p_id uuid
) RETURNS SETOF hippocampus.memories
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
BEGIN ATOMIC
    SELECT m.* FROM hippocampus.memories m
    WHERE m.id = p_id AND m.user_id = p_user_id AND m.app_name = p_app_name LIMIT 1;
END;
COMMENT ON FUNCTION hippocampus._memory_row IS 'A memory by its id.';
REVOKE ALL ON FUNCTION hippocampus._memory_row FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._memory_row
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
