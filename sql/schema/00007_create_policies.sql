-- The walls between tenants: row-level security, forced on every table, and the grants.
--
-- hippocampus_tenant and hippocampus_reader are bound: they see the scope that the transaction set
--     SELECT set_config('hippocampus.user_id', …, true), set_config('hippocampus.app_name', …, true)
-- and nothing when it set none (current_setting gives null or '', and no row has an empty tenant).
-- hippocampus_service, hippocampus_worker and the owner are trusted by a policy, not by BYPASSRLS,
-- which managed Postgres does not give.

-- +goose Up
-- +goose StatementBegin
DO $policies$
DECLARE
    v_table text;
    v_scope text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['threads', 'events', 'user_state', 'memories', 'facts', 'memory_sources',
            'memory_blocks', 'row_terms', 'postings', 'unindexed_rows', 'posting_totals', 'embeddings', 'embedding_queue', 'vector_indexes',
            'consolidation_jobs', 'app_state', 'instructions', 'retention_policies', 'settings'] LOOP
        EXECUTE format('ALTER TABLE hippocampus.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format('ALTER TABLE hippocampus.%I FORCE ROW LEVEL SECURITY', v_table);
        EXECUTE format('CREATE POLICY %I ON hippocampus.%I TO hippocampus_owner, hippocampus_service, '
                       'hippocampus_worker USING (true) WITH CHECK (true)', v_table || '_trusted', v_table);
        v_scope := CASE
            WHEN v_table IN ('app_state', 'instructions')
                THEN $$app_name = current_setting('hippocampus.app_name', true)$$
            WHEN v_table IN ('retention_policies', 'settings')
                THEN $$app_name = '*' OR app_name = current_setting('hippocampus.app_name', true)$$
            ELSE $$user_id = current_setting('hippocampus.user_id', true) AND app_name = current_setting('hippocampus.app_name', true)$$
        END;
        EXECUTE format('CREATE POLICY %I ON hippocampus.%I TO hippocampus_tenant, hippocampus_reader USING (%s)',
                       v_table || '_bound', v_table, v_scope);
    END LOOP;
END
$policies$;
ALTER TABLE hippocampus.embedding_models ENABLE ROW LEVEL SECURITY;
ALTER TABLE hippocampus.embedding_models FORCE ROW LEVEL SECURITY;
CREATE POLICY embedding_models_trusted ON hippocampus.embedding_models
    TO hippocampus_owner, hippocampus_service, hippocampus_worker USING (true) WITH CHECK (true);
CREATE POLICY embedding_models_read ON hippocampus.embedding_models FOR SELECT
    TO hippocampus_tenant, hippocampus_reader USING (true);

-- Every role reads what its policies show.
GRANT SELECT ON hippocampus.threads, hippocampus.events, hippocampus.user_state, hippocampus.app_state,
    hippocampus.memories, hippocampus.facts, hippocampus.memory_sources, hippocampus.instructions,
    hippocampus.memory_blocks, hippocampus.row_terms, hippocampus.postings, hippocampus.unindexed_rows, hippocampus.posting_totals,
    hippocampus.embedding_models,
    hippocampus.embeddings, hippocampus.embedding_queue, hippocampus.vector_indexes,
    hippocampus.consolidation_jobs, hippocampus.retention_policies, hippocampus.settings
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;

-- A tenant writes its own rows. Of the log it appends only; app-wide rows are the service's.
-- The ids of threads and events are never a tenant's choice: a trusted role finds a thread by its id alone, so
-- one that a tenant gave another's id would be found in its place. Nor are a job's status and River job, or a
-- tenant could follow, hold and delete the jobs of others.
GRANT INSERT (created_at, updated_at, user_id, app_name, session_id, state) ON hippocampus.threads TO hippocampus_tenant;
GRANT UPDATE (updated_at, version, next_seq, replayed_seq, reflected_seq, forgettings, session_id, state) ON hippocampus.threads
    TO hippocampus_tenant;
GRANT INSERT (created_at, sequence_num, importance, token_count, token_count_exact, thread_id, user_id, app_name, author,
    event_type, category, event_id, invocation_id, branch, text, tags, content, metadata) ON hippocampus.events
    TO hippocampus_tenant;
GRANT INSERT (thread_id, user_id, app_name, job_type), UPDATE (result) ON hippocampus.consolidation_jobs TO hippocampus_tenant;
GRANT DELETE ON hippocampus.threads TO hippocampus_tenant;
GRANT INSERT, UPDATE, DELETE ON hippocampus.threads TO hippocampus_service, hippocampus_worker;
GRANT INSERT ON hippocampus.events, hippocampus.consolidation_jobs TO hippocampus_service, hippocampus_worker;
GRANT INSERT, DELETE ON hippocampus.user_state, hippocampus.memories, hippocampus.facts,
    hippocampus.memory_sources, hippocampus.memory_blocks, hippocampus.row_terms, hippocampus.postings,
    hippocampus.unindexed_rows, hippocampus.posting_totals, hippocampus.embeddings
    TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
-- When a row is embedded, and how often it was tried, is not the tenant's to say.
GRANT INSERT (row_id, user_id, app_name, source), DELETE ON hippocampus.embedding_queue TO hippocampus_tenant;
GRANT INSERT, DELETE ON hippocampus.embedding_queue TO hippocampus_service, hippocampus_worker;
GRANT UPDATE ON hippocampus.user_state, hippocampus.memory_blocks, hippocampus.embeddings, hippocampus.posting_totals
    TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
GRANT UPDATE (number) ON hippocampus.row_terms TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
GRANT UPDATE (numbers, places, counts, lengths) ON hippocampus.postings TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
GRANT USAGE ON SEQUENCE hippocampus.row_terms_number_seq TO hippocampus_tenant;
GRANT UPDATE ON hippocampus.memories, hippocampus.facts TO hippocampus_service, hippocampus_worker;
-- What a memory or a fact is, when it was stored, and where it stands in the log, stays: see _refuse_update.
GRANT UPDATE (last_accessed_at, occurred_until, forget_at, forget_policy, retention_score, initial_score, importance, running_intensity,
    encounter_count, access_count, token_count, token_count_exact, thread_id, superseded_by, category, author, trust, visibility,
    shared_by, tags, metadata) ON hippocampus.memories TO hippocampus_tenant;
GRANT UPDATE (recorded_at, valid_from, valid_until, closed_at, last_accessed_at, confidence, running_intensity, encounter_count,
    access_count, token_count, token_count_exact, thread_id, superseded_by, trust, closed_by, closed_reason, metadata)
    ON hippocampus.facts TO hippocampus_tenant;
GRANT INSERT, UPDATE ON hippocampus.app_state TO hippocampus_service, hippocampus_worker;
GRANT UPDATE (token_count, token_count_exact) ON hippocampus.events
    TO hippocampus_service, hippocampus_worker;
GRANT INSERT, UPDATE, DELETE ON hippocampus.instructions, hippocampus.retention_policies, hippocampus.settings
    TO hippocampus_service, hippocampus_worker;
GRANT UPDATE ON hippocampus.consolidation_jobs, hippocampus.embedding_queue, hippocampus.embedding_models
    TO hippocampus_service, hippocampus_worker;
GRANT INSERT, UPDATE, DELETE ON hippocampus.vector_indexes TO hippocampus_worker;

-- River works on its tables as the worker; no tenant sees a job's arguments. The service may insert:
-- an application with a River client of its own enqueues in its own transaction.
GRANT SELECT, INSERT, UPDATE, DELETE ON hippocampus.river_job, hippocampus.river_queue, hippocampus.river_leader,
    hippocampus.river_notification TO hippocampus_worker;
GRANT SELECT ON hippocampus.river_migration TO hippocampus_worker;
GRANT SELECT, INSERT ON hippocampus.river_job TO hippocampus_service;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA hippocampus TO hippocampus_worker, hippocampus_service;
-- River's unique index has this function in its predicate. A role that is refused the table but plans over it would
-- leave the predicate unusable to everybody who has the connection after it.
GRANT EXECUTE ON FUNCTION hippocampus.river_job_state_in_bitmask(bit, hippocampus.river_job_state)
    TO hippocampus_worker, hippocampus_service, hippocampus_tenant, hippocampus_reader;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DO $policies$
DECLARE
    v_policy record;
    v_table  regclass;
BEGIN
    FOR v_policy IN SELECT p.polname, p.polrelid::regclass AS polrel
                    FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
                    WHERE c.relnamespace = 'hippocampus'::regnamespace LOOP
        EXECUTE format('DROP POLICY %I ON %s', v_policy.polname, v_policy.polrel);
    END LOOP;
    FOR v_table IN SELECT c.oid::regclass FROM pg_class c
                   WHERE c.relnamespace = 'hippocampus'::regnamespace AND c.relrowsecurity LOOP
        EXECUTE format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY', v_table);
    END LOOP;
END
$policies$;
REVOKE ALL ON ALL TABLES IN SCHEMA hippocampus
    FROM hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
REVOKE ALL (token_count, token_count_exact) ON hippocampus.events FROM hippocampus_service, hippocampus_worker;
REVOKE ALL (number) ON hippocampus.row_terms FROM hippocampus_tenant, hippocampus_service, hippocampus_worker;
REVOKE ALL (numbers, places, counts, lengths) ON hippocampus.postings FROM hippocampus_tenant, hippocampus_service, hippocampus_worker;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA hippocampus FROM hippocampus_tenant, hippocampus_service, hippocampus_worker;
REVOKE ALL ON FUNCTION hippocampus.river_job_state_in_bitmask(bit, hippocampus.river_job_state)
    FROM hippocampus_service, hippocampus_worker, hippocampus_tenant, hippocampus_reader;
GRANT SELECT ON hippocampus.goose_db_version
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
-- +goose StatementEnd
