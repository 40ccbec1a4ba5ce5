-- What is remembered of a person, a room, a task: of whatever the application wrote into the metadata of its events.
CREATE OR REPLACE FUNCTION hippocampus.recall_related(
    p_user_id text,
    p_app_name text,
    p_context jsonb,
    p_limit integer DEFAULT 100,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.recollections
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 50
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF hippocampus._context_of(hippocampus._check_object('p_context', p_context, 262144)) = '{}' THEN
        RAISE EXCEPTION 'p_context is %', coalesce(left(p_context::text, 100), 'null')
            USING ERRCODE = 'HC009', HINT = 'Name what is asked for: {"room": "42"}, with a text, a number, true or false of at most 255 bytes.';
    END IF;
    RETURN QUERY
    SELECT r.* FROM hippocampus.recall(p_user_id, p_app_name, p_limit => p_limit, p_context => p_context,
        p_now => p_now) r;
END
$fn$;
COMMENT ON FUNCTION hippocampus.recall_related IS
    'What is remembered with a context, newest first: recall_related(…, ''{"room": "42", "task": "7"}'') gives the events of short-term memory and the memories whose metadata has these fields. Short fields are indexed, of a memory the first 64 by name. Of the user''s own alone: what others share tells no context.';
REVOKE ALL ON FUNCTION hippocampus.recall_related FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.recall_related
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
