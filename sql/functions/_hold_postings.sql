-- Whether this transaction has a user's postings to itself from now on, to its end, as who folds rows into them or takes
-- some out must. It never waits, and so adds nothing for which others could wait in turn. Not in REPEATABLE READ, where
-- a list that another writer changed since the snapshot would be an error.
CREATE OR REPLACE FUNCTION hippocampus._hold_postings(
    p_user_id text,
    p_app_name text
) RETURNS boolean
LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT CASE WHEN current_setting('transaction_isolation') IN ('read committed', 'read uncommitted') THEN pg_try_advisory_xact_lock(
        hashtextextended('hippocampus.postings ' || quote_literal(p_user_id) || ' ' || quote_literal(p_app_name), 0)) ELSE false END;
END;
COMMENT ON FUNCTION hippocampus._hold_postings IS 'Takes the lock of those who change a user''s postings, where nobody has it.';
REVOKE ALL ON FUNCTION hippocampus._hold_postings FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._hold_postings TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
