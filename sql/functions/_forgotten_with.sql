-- The memories and facts that go when some are forgotten, or events (p_ids), given the events that are passed over for
-- it (_telling_events): these, what tells the same, its history, and what was made of any of it. What a preview tells
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
    RETURN QUERY SELECT hippocampus._made_of(p_user_id, p_app_name, ARRAY(SELECT hippocampus._same_rows(p_user_id, p_app_name,
        p_ids || ARRAY(SELECT hippocampus._told_by_events(p_user_id, p_app_name, p_ids, p_thread_ids, p_seqs, p_query)))));
END
$fn$;
COMMENT ON FUNCTION hippocampus._forgotten_with IS 'The memories and facts that go when some are forgotten.';
REVOKE ALL ON FUNCTION hippocampus._forgotten_with FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._forgotten_with
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
