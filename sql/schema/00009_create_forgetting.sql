-- Truth and forgetting: the shapes that their functions return, and which events are passed over.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE hippocampus.forgotten_events (
    sequence_num bigint NOT NULL,
    erased       boolean NOT NULL DEFAULT false,
    thread_id    uuid NOT NULL,
    user_id      text COLLATE "C" NOT NULL,
    app_name     text COLLATE "C" NOT NULL,
    CONSTRAINT forgotten_events_pkey PRIMARY KEY (thread_id, sequence_num, user_id, app_name),
    CONSTRAINT forgotten_events_thread_id_fkey FOREIGN KEY (thread_id, sequence_num, user_id, app_name)
        REFERENCES hippocampus.events (thread_id, sequence_num, user_id, app_name) ON DELETE CASCADE
);
COMMENT ON TABLE hippocampus.forgotten_events IS
    'Events that told what was forgotten: no consolidation reads them, no search finds them. Says which, and nothing of what they told.';
COMMENT ON COLUMN hippocampus.forgotten_events.erased IS 'Whether the event''s own text and content are gone, too.';

ALTER TABLE hippocampus.forgotten_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE hippocampus.forgotten_events FORCE ROW LEVEL SECURITY;
CREATE POLICY forgotten_events_trusted ON hippocampus.forgotten_events
    TO hippocampus_owner, hippocampus_service, hippocampus_worker USING (true) WITH CHECK (true);
CREATE POLICY forgotten_events_bound ON hippocampus.forgotten_events TO hippocampus_tenant, hippocampus_reader
    USING (user_id = current_setting('hippocampus.user_id', true) AND app_name = current_setting('hippocampus.app_name', true));
GRANT SELECT ON hippocampus.forgotten_events
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
GRANT INSERT, UPDATE (erased) ON hippocampus.forgotten_events
    TO hippocampus_tenant, hippocampus_service, hippocampus_worker;

CREATE VIEW hippocampus.fact_outcomes WITH (security_invoker = true) AS
SELECT 0::integer AS position, ''::text AS action, f.thread_id AS fact_id, f.fact_type, f.key, f.value,
    f.superseded_by AS related_id, 0::double precision AS similarity, 0::double precision AS running_intensity,
    '[]'::jsonb AS candidates
FROM hippocampus.facts f WHERE false;
COMMENT ON VIEW hippocampus.fact_outcomes IS
    'What remember_facts returns: what became of each fact (new, duplicate, supersedes, distinct, undecided), and of undecided ones the facts to compare it with.';

CREATE VIEW hippocampus.forget_matches WITH (security_invoker = true) AS
SELECT ''::text AS source, m.id, m.content AS text, 0::double precision AS similarity, m.occurred_from AS occurred_at, false::boolean AS meant
FROM hippocampus.memories m WHERE false;
COMMENT ON VIEW hippocampus.forget_matches IS 'What preview_forget returns: the memories and facts that a description means, and all that goes along with them.';

CREATE VIEW hippocampus.forgotten_counts WITH (security_invoker = true) AS
SELECT 0::bigint AS memories, 0::bigint AS facts, 0::bigint AS events, 0::bigint AS threads;
COMMENT ON VIEW hippocampus.forgotten_counts IS 'What forget_memory and forget_user return: how much is gone.';

GRANT SELECT ON hippocampus.fact_outcomes, hippocampus.forget_matches, hippocampus.forgotten_counts
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DROP VIEW hippocampus.fact_outcomes, hippocampus.forget_matches, hippocampus.forgotten_counts;
DROP TABLE hippocampus.forgotten_events;
-- +goose StatementEnd
