-- What an operator should know and cannot see: walls that do not hold for this login, versions with known
-- faults, work that stands still.
CREATE OR REPLACE FUNCTION hippocampus.doctor(
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.findings
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 8
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_role pg_roles;
    v_login pg_roles;
    v_discarded bigint;
    v_vector text := (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'vector');
    v_failed bigint;
    v_stuck bigint;
    v_queued bigint;
    v_gone bigint;
    v_serving hippocampus.embedding_models;
BEGIN
    SELECT r.* INTO v_role FROM pg_roles r WHERE r.rolname = current_user;
    SELECT r.* INTO v_login FROM pg_roles r WHERE r.rolname = session_user;
    RETURN QUERY SELECT 'row_level_security',
        CASE WHEN v_role.rolsuper OR v_role.rolbypassrls OR v_login.rolsuper OR v_login.rolbypassrls THEN 'warning' ELSE 'ok' END,
        format('%s %s', current_user, CASE WHEN v_role.rolsuper THEN 'is a superuser: no policy holds for it'
            WHEN v_role.rolbypassrls THEN 'has BYPASSRLS: no policy holds for it'
            WHEN v_login.rolsuper OR v_login.rolbypassrls THEN format('is held by the policies, but its login %s can put the role off, and is not',
                session_user)
            ELSE 'is held by the policies' END),
        CASE WHEN v_role.rolsuper OR v_role.rolbypassrls OR v_login.rolsuper OR v_login.rolbypassrls
            THEN 'Connect applications with a login that has hippocampus_tenant or hippocampus_service only.' ELSE '' END;
    RETURN QUERY SELECT 'forced_policies', CASE WHEN count(*) = 0 THEN 'ok' ELSE 'error' END,
        CASE WHEN count(*) = 0 THEN 'every table forces its policies' ELSE 'not forced: ' || string_agg(c.relname, ', ') END,
        CASE WHEN count(*) = 0 THEN '' ELSE 'As their owner: ALTER TABLE hippocampus.… FORCE ROW LEVEL SECURITY, for each of these.' END
    FROM pg_class c
    WHERE c.relnamespace = 'hippocampus'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relforcerowsecurity
      AND c.relname NOT LIKE 'river\_%' AND c.relname <> 'goose_db_version';
    RETURN QUERY SELECT 'string_literals', CASE WHEN s.value = 'on' THEN 'ok' ELSE 'error' END, 'standard_conforming_strings is ' || s.value,
        CASE WHEN s.value = 'on' THEN '' ELSE 'Set it on for the login and the database: the patterns of the functions match something else without it.' END
    FROM current_setting('standard_conforming_strings') AS s (value);
    RETURN QUERY SELECT 'postgres', CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'error' ELSE 'ok' END,
        'version ' || current_setting('server_version'),
        CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'Upgrade to Postgres 16 or newer.' ELSE '' END;
    RETURN QUERY SELECT 'pgvector',
        CASE WHEN string_to_array(v_vector, '.')::integer[] >= ARRAY[0, 8, 4] THEN 'ok' ELSE 'warning' END,
        'version ' || v_vector,
        CASE WHEN string_to_array(v_vector, '.')::integer[] >= ARRAY[0, 8, 4] THEN ''
            ELSE 'Before 0.8.4 vacuum can damage an HNSW index' || CASE WHEN string_to_array(v_vector, '.')::integer[] >= ARRAY[0, 8, 2]
                THEN '.' ELSE ', before 0.8.2 a parallel build can overflow; builds here are not parallel.' END || ' Update when your distribution does.' END;
    SELECT g.* INTO v_serving FROM hippocampus.embedding_models g WHERE g.status = 'serving';
    RETURN QUERY SELECT 'embedding_model', 'ok',
        format('generation %s, %s dimensions, model %s', v_serving.generation, v_serving.dimension,
            coalesce(v_serving.model, 'not yet known')), '';
    SELECT count(*) FILTER (WHERE j.status = 'failed' AND j.completed_at > p_now - interval '7 days'),
           count(*) FILTER (WHERE j.status = 'running' AND j.started_at < p_now - interval '1 hour'
                            OR j.status = 'pending' AND j.created_at < p_now - interval '1 hour')
    INTO v_failed, v_stuck FROM hippocampus.consolidation_jobs j;
    RETURN QUERY SELECT 'consolidation', CASE WHEN v_failed > 0 THEN 'error' WHEN v_stuck > 0 THEN 'warning' ELSE 'ok' END,
        format('%s failed in 7 days, %s waiting or running for over an hour', v_failed, v_stuck),
        CASE WHEN v_failed + v_stuck > 0 THEN 'See hippocampus.consolidation_jobs (error, raw_reply); is a worker running?' ELSE '' END;
    SELECT count(*) INTO v_queued FROM hippocampus.embedding_queue q WHERE q.queued_at < p_now - interval '10 minutes';
    RETURN QUERY SELECT 'embedding_queue', CASE WHEN v_queued > 0 THEN 'warning' ELSE 'ok' END,
        format('%s rows have waited for a vector for over 10 minutes', v_queued),
        CASE WHEN v_queued > 0 THEN 'They are found by their words meanwhile. See hippocampus.embedding_queue.error; is a worker running?' ELSE '' END;
    v_gone := (SELECT count(*) FROM hippocampus.unindexed_rows);
    RETURN QUERY SELECT 'index_of_words', CASE WHEN v_gone > 10000 THEN 'warning' ELSE 'ok' END,
        format('the words of %s rows that are gone are still in it', v_gone),
        CASE WHEN v_gone > 10000 THEN 'The worker takes them out each minute; without one, call fold_terms for their users (unindexed_rows).' ELSE '' END;
    IF has_table_privilege('hippocampus.river_job', 'SELECT') THEN -- the worker's and the service's
        SELECT count(*) INTO v_discarded FROM hippocampus.river_job j
        WHERE j.state = 'discarded' AND NOT j.metadata ? 'unique_key_conflict' -- not one that gave way to its double
          AND j.finalized_at > p_now - interval '7 days';
        RETURN QUERY SELECT 'discarded_jobs', CASE WHEN v_discarded > 0 THEN 'error' ELSE 'ok' END,
            format('jobs given up in 7 days: %s', v_discarded),
            CASE WHEN v_discarded > 0 THEN 'See hippocampus.river_job (kind, errors) WHERE state = ''discarded'' AND NOT metadata ? ''unique_key_conflict''.' ELSE '' END;
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus.doctor IS
    'Checks of this database and this login, a row each: status ok, warning or error, what was found, and what to do.';
REVOKE ALL ON FUNCTION hippocampus.doctor FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.doctor
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
