-- Whether a session of this database holds the advisory lock of a name, exclusive, and so lives. Unlike an attempt
-- to take the lock, it disturbs nobody and answers for the session that asks, too.
CREATE OR REPLACE FUNCTION hippocampus._is_held(
    p_name text
) RETURNS boolean
LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT EXISTS (
        SELECT FROM pg_catalog.pg_locks l
        WHERE l.locktype = 'advisory' AND l.mode = 'ExclusiveLock' AND l.granted AND l.objsubid = 1
          AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = current_database())
          AND l.classid::bigint << 32 | l.objid::bigint = hashtextextended(p_name, 0));
END;
COMMENT ON FUNCTION hippocampus._is_held IS
    'Whether a session holds pg_advisory_lock(hashtextextended(p_name, 0)).';
REVOKE ALL ON FUNCTION hippocampus._is_held FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._is_held
    TO hippocampus_service, hippocampus_worker;
