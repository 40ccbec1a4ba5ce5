-- The memories and facts that go when some are forgotten, or events (p_ids), given the events that are passed over for
-- it (_telling_events): these, what tells the same, its history, and what was made of any of it, or of a
-- memory of these events that has faded. What a preview tells
-- and what forgetting deletes is this, both times.
CREATE OR REPLACE FUNCTION hippocampus._forgotten_with(
    p_user_id text,
    p_app_name text,
    p_ids uuid[],
    p_thread_ids uuid[],
    p_seqs bigint[],
    p_query text
) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 20
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    RETURN QUERY SELECT hippocampus._made_of(p_user_id, p_app_name, p_ids || ARRAY(
        SELECT hippocampus._same_rows(p_user_id, p_app_name,
            p_ids || ARRAY(SELECT hippocampus._told_by_events(p_user_id, p_app_name, p_ids, p_thread_ids, p_seqs, p_query)))
        UNION SELECT f.memory_id FROM unnest(p_thread_ids, p_seqs) AS g (thread_id, seq)
        JOIN hippocampus.faded_sources f ON f.thread_id = g.thread_id AND g.seq BETWEEN f.from_seq AND f.to_seq
            AND f.user_id = p_user_id AND f.app_name = p_app_name));
END
$fn$;
COMMENT ON FUNCTION hippocampus._forgotten_with IS 'The memories and facts that go when some are forgotten.';
REVOKE ALL ON FUNCTION hippocampus._forgotten_with FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._forgotten_with
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
