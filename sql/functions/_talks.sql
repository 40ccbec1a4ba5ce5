-- How many conversations a user has, and how long they are, of a user with p_rows rows. 256 of them tell how long; of a
-- user with more, the rows tell how many there are, so that the cost does not grow.
CREATE OR REPLACE FUNCTION hippocampus._talks(
    p_user_id text,
    p_app_name text,
    p_rows double precision
) RETURNS TABLE (talks double precision, turns double precision)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
BEGIN ATOMIC
    SELECT greatest(1, count(*), CASE WHEN count(*) = 256 THEN p_rows / greatest(1, avg(t.turns)) END), greatest(1, avg(t.turns))
    FROM (SELECT (t.next_seq - 1)::double precision AS turns FROM hippocampus.threads t
          WHERE t.user_id = p_user_id AND t.app_name = p_app_name ORDER BY t.session_id LIMIT 256) t;
END;
COMMENT ON FUNCTION hippocampus._talks IS 'How many conversations a user has, and how many turns one has on average, 1 each at least.';
REVOKE ALL ON FUNCTION hippocampus._talks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._talks
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
