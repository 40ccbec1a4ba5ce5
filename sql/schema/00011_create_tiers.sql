-- The two tiers of a persona's memory: when what is in the short-term window becomes long-term memory, what ties
-- memories together, and what personas of an app show each other.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE hippocampus.consolidation_policies (
    updated_at           timestamptz NOT NULL DEFAULT now(),
    target_rate          real,
    keep_importance      real NOT NULL DEFAULT 0.5,
    urgent_importance    real NOT NULL DEFAULT 0.7,
    min_importance       real NOT NULL DEFAULT 0.6,
    lowest_importance    real NOT NULL DEFAULT 0.4,
    highest_importance   real NOT NULL DEFAULT 0.7,
    fill_ratio           real NOT NULL DEFAULT 0.8,
    window_events        integer NOT NULL DEFAULT 100,
    window_seconds       integer NOT NULL DEFAULT 3600,
    idle_seconds         integer NOT NULL DEFAULT 300,
    min_interval_seconds integer NOT NULL DEFAULT 60,
    sleep_hours          integer NOT NULL DEFAULT 24,
    sleep_model_calls    integer NOT NULL DEFAULT 20,
    sleep_enabled        boolean NOT NULL DEFAULT false,
    enabled              boolean NOT NULL DEFAULT false,
    sharing              boolean NOT NULL DEFAULT false,
    app_name             text COLLATE "C" NOT NULL DEFAULT '*',
    job_type             text COLLATE "C" NOT NULL DEFAULT 'full_consolidation',
    CONSTRAINT consolidation_policies_pkey PRIMARY KEY (app_name),
    CONSTRAINT consolidation_policies_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255),
    CONSTRAINT consolidation_policies_job_type_check CHECK (
        job_type IN ('fast_replay', 'deep_reflection', 'full_consolidation')),
    CONSTRAINT consolidation_policies_target_rate_check CHECK (target_rate BETWEEN 0 AND 1),
    CONSTRAINT consolidation_policies_keep_importance_check CHECK (keep_importance BETWEEN 0 AND 1),
    CONSTRAINT consolidation_policies_fill_ratio_check CHECK (fill_ratio BETWEEN 0 AND 1),
    -- what is urgent always becomes a memory, wherever the threshold has moved
    CONSTRAINT consolidation_policies_importance_check CHECK (
        0 <= lowest_importance AND lowest_importance <= min_importance AND min_importance <= highest_importance
        AND highest_importance <= urgent_importance AND urgent_importance <= 1),
    CONSTRAINT consolidation_policies_window_events_check CHECK (window_events BETWEEN 1 AND 10000),
    CONSTRAINT consolidation_policies_seconds_check CHECK (
        window_seconds BETWEEN 0 AND 31536000 AND idle_seconds BETWEEN 1 AND 31536000
        AND min_interval_seconds BETWEEN 0 AND 86400),
    CONSTRAINT consolidation_policies_sleep_check CHECK (
        sleep_hours BETWEEN 1 AND 8760 AND sleep_model_calls BETWEEN 0 AND 10000)
);
CREATE INDEX consolidation_policies_enabled_idx ON hippocampus.consolidation_policies (app_name) WHERE enabled;
INSERT INTO hippocampus.consolidation_policies DEFAULT VALUES;
COMMENT ON TABLE hippocampus.consolidation_policies IS
    'What short-term memory holds and when it becomes long-term memory, by app; ''*'' holds where an app has no row. Written with put_consolidation_policy.';
COMMENT ON COLUMN hippocampus.consolidation_policies.enabled IS
    'Whether threads are consolidated without anybody asking for it. Off by default, since a consolidation may call a model that costs money.';
COMMENT ON COLUMN hippocampus.consolidation_policies.sleep_enabled IS
    'Whether memories of users with new ones are put in order every sleep_hours: linked, tagged, merged, clustered. Off by default.';
COMMENT ON COLUMN hippocampus.consolidation_policies.sleep_model_calls IS 'How many calls of a model one sleep may cost. With 0 it links, tags and merges only.';
COMMENT ON COLUMN hippocampus.consolidation_policies.sharing IS
    'Whether users of the app may show each other memories with share_memory. Taken back, what was shared is private again.';
COMMENT ON COLUMN hippocampus.consolidation_policies.window_events IS 'Short-term memory is the last so many events,';
COMMENT ON COLUMN hippocampus.consolidation_policies.window_seconds IS '… no older than this,';
COMMENT ON COLUMN hippocampus.consolidation_policies.keep_importance IS '… or at least so important.';
COMMENT ON COLUMN hippocampus.consolidation_policies.fill_ratio IS
    'A thread is consolidated when more than this share of window_events waits for it.';
COMMENT ON COLUMN hippocampus.consolidation_policies.urgent_importance IS
    'A thread is consolidated when an event at least so important is appended.';
COMMENT ON COLUMN hippocampus.consolidation_policies.idle_seconds IS
    'A thread with events that wait is consolidated when nothing was appended for so long, and window_seconds after the first of them at the latest.';
COMMENT ON COLUMN hippocampus.consolidation_policies.min_interval_seconds IS
    'A thread is not consolidated again sooner than this by policy: a burst of urgent events costs one call of a model, not one each.';
COMMENT ON COLUMN hippocampus.consolidation_policies.min_importance IS
    'While the policy is enabled, events less important than this become no episode; they stay in the log, and models read them.';
COMMENT ON COLUMN hippocampus.consolidation_policies.target_rate IS
    'The share of events that should become episodes. min_importance moves towards it, between lowest_importance and highest_importance. That of ''*'' moves by the events of all apps that have no policy of their own. Null leaves it where it is.';

CREATE TABLE hippocampus.consolidation_moves (
    moved_at        timestamptz NOT NULL DEFAULT now(),
    events          bigint NOT NULL,
    from_importance real NOT NULL,
    to_importance   real NOT NULL,
    rate            real NOT NULL,
    target_rate     real NOT NULL,
    app_name        text COLLATE "C" NOT NULL,
    CONSTRAINT consolidation_moves_pkey PRIMARY KEY (app_name, moved_at),
    CONSTRAINT consolidation_moves_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255)
);
COMMENT ON TABLE hippocampus.consolidation_moves IS
    'Each move of consolidation_policies.min_importance: of how many events which share had become episodes, and what was wanted.';

CREATE TABLE hippocampus.unconsolidated_threads (
    created_at timestamptz NOT NULL DEFAULT now(),
    thread_id  uuid NOT NULL,
    user_id    text COLLATE "C" NOT NULL,
    app_name   text COLLATE "C" NOT NULL,
    CONSTRAINT unconsolidated_threads_pkey PRIMARY KEY (thread_id, user_id, app_name),
    CONSTRAINT unconsolidated_threads_thread_id_fkey FOREIGN KEY (thread_id, user_id, app_name)
        REFERENCES hippocampus.threads (id, user_id, app_name) ON DELETE CASCADE
);
CREATE INDEX unconsolidated_threads_created_at_idx ON hippocampus.unconsolidated_threads (created_at);
COMMENT ON TABLE hippocampus.unconsolidated_threads IS
    'Threads of apps whose policy is enabled that have events to consolidate, and since when. An index on threads would be written by every append.';

CREATE TABLE hippocampus.event_uses (
    last_accessed_at timestamptz NOT NULL DEFAULT now(),
    sequence_num     bigint NOT NULL,
    access_count     integer NOT NULL DEFAULT 1,
    thread_id        uuid NOT NULL,
    user_id          text COLLATE "C" NOT NULL,
    app_name         text COLLATE "C" NOT NULL,
    CONSTRAINT event_uses_pkey PRIMARY KEY (thread_id, sequence_num, user_id, app_name),
    CONSTRAINT event_uses_thread_id_fkey FOREIGN KEY (thread_id, sequence_num, user_id, app_name)
        REFERENCES hippocampus.events (thread_id, sequence_num, user_id, app_name) ON DELETE CASCADE,
    CONSTRAINT event_uses_access_count_check CHECK (access_count >= 1)
);
COMMENT ON TABLE hippocampus.event_uses IS
    'How often events of short-term memory were recalled; the log itself is not written again for that. The episode that is made of an event takes its uses over.';

CREATE TABLE hippocampus.untidied_memories (
    memory_id uuid NOT NULL,
    user_id   text COLLATE "C" NOT NULL,
    app_name  text COLLATE "C" NOT NULL,
    CONSTRAINT untidied_memories_pkey PRIMARY KEY (user_id, app_name, memory_id)
);
COMMENT ON TABLE hippocampus.untidied_memories IS
    'Memories that a sleep has seen and not put in order: their vector was still to come, or its time was up. The next one does. A trigger takes out what is deleted: a foreign key would cost each deletion of a memory a look in here.';

CREATE TABLE hippocampus.memory_labels (
    occurred_from timestamptz NOT NULL,
    memory_id     uuid NOT NULL,
    user_id       text COLLATE "C" NOT NULL,
    app_name      text COLLATE "C" NOT NULL,
    label         text COLLATE "C" NOT NULL,
    CONSTRAINT memory_labels_pkey PRIMARY KEY (user_id, app_name, label, occurred_from, memory_id),
    CONSTRAINT memory_labels_label_check CHECK (octet_length(label) BETWEEN 1 AND 600)
);
CREATE INDEX memory_labels_memory_id_idx ON hippocampus.memory_labels (memory_id);
COMMENT ON TABLE hippocampus.memory_labels IS
    'The index of tags and of context (the fields of metadata), as rows of a btree: row-level security cannot use a GIN index. Kept by triggers, under the lock of the memory''s own row: a foreign key would cost each deletion, and tell nothing new.';

CREATE TABLE hippocampus.shared_memories (
    shared_at     timestamptz NOT NULL DEFAULT now(),
    occurred_from timestamptz NOT NULL,
    generation    integer,
    importance    real NOT NULL,
    memory_id     uuid NOT NULL,
    user_id       text COLLATE "C" NOT NULL,
    app_name      text COLLATE "C" NOT NULL,
    memory_type   text COLLATE "C" NOT NULL,
    category      text COLLATE "C" NOT NULL,
    shared_by     text COLLATE "C" NOT NULL,
    trust         text COLLATE "C" NOT NULL,
    content       text NOT NULL,
    tags          text[] NOT NULL,
    terms         text[] NOT NULL,
    embedding     public.halfvec,
    CONSTRAINT shared_memories_pkey PRIMARY KEY (memory_id, user_id, app_name),
    CONSTRAINT shared_memories_embedding_check CHECK ((embedding IS NULL) = (generation IS NULL))
);
CREATE INDEX shared_memories_app_name_idx ON hippocampus.shared_memories (app_name, occurred_from DESC);
CREATE INDEX memories_shared_idx ON hippocampus.memories (app_name) WHERE visibility = 'app';
COMMENT ON TABLE hippocampus.shared_memories IS
    'What users of an app show each other: of each memory whose visibility is app what others may see, by whom it was shared, and whose words it holds. Not its thread, its metadata or its use. Kept by a trigger; a copy, since a policy that opened memories itself would open all of their columns, and links, words and vectors beside them.';

CREATE TABLE hippocampus.memory_links (
    created_at timestamptz NOT NULL DEFAULT now(),
    weight     real NOT NULL DEFAULT 1,
    from_id    uuid NOT NULL,
    to_id      uuid NOT NULL,
    user_id    text COLLATE "C" NOT NULL,
    app_name   text COLLATE "C" NOT NULL,
    link_type  text COLLATE "C" NOT NULL DEFAULT 'related_to',
    source     text COLLATE "C" NOT NULL DEFAULT 'client',
    CONSTRAINT memory_links_pkey PRIMARY KEY (from_id, to_id, link_type, user_id, app_name),
    CONSTRAINT memory_links_from_id_fkey FOREIGN KEY (from_id, user_id, app_name)
        REFERENCES hippocampus.memories (id, user_id, app_name) ON DELETE CASCADE,
    CONSTRAINT memory_links_to_id_fkey FOREIGN KEY (to_id, user_id, app_name)
        REFERENCES hippocampus.memories (id, user_id, app_name) ON DELETE CASCADE,
    CONSTRAINT memory_links_link_type_check CHECK (
        link_type IN ('related_to', 'caused_by', 'follows', 'supports', 'contradicts', 'part_of', 'derived_from')),
    CONSTRAINT memory_links_source_check CHECK (source IN ('client', 'sleep', 'retention')),
    CONSTRAINT memory_links_weight_check CHECK (weight BETWEEN 0 AND 1),
    CONSTRAINT memory_links_self_check CHECK (from_id <> to_id)
);
CREATE INDEX memory_links_to_id_idx ON hippocampus.memory_links (to_id);
COMMENT ON TABLE hippocampus.memory_links IS
    'How memories of a user hang together, as typed edges; cycles are allowed. What is derived_from a memory is forgotten with it, and outlives it where it fades: see faded_sources. source is retention where what a memory was derived_from has faded, and left it what it was derived_from itself.';

CREATE TABLE hippocampus.memory_roles (
    was_clustered boolean NOT NULL DEFAULT false,
    memory_id     uuid NOT NULL,
    user_id       text COLLATE "C" NOT NULL,
    app_name      text COLLATE "C" NOT NULL,
    CONSTRAINT memory_roles_pkey PRIMARY KEY (memory_id, user_id, app_name),
    CONSTRAINT memory_roles_memory_id_fkey FOREIGN KEY (memory_id, user_id, app_name)
        REFERENCES hippocampus.memories (id, user_id, app_name) ON DELETE CASCADE
);
COMMENT ON TABLE hippocampus.memory_roles IS
    'Memories that are more than their text: clusters, experiences, those with a name. The tables of these refer to this one, and it to memories: most memories are none of these, and are deleted without a look into each of them.';
COMMENT ON COLUMN hippocampus.memory_roles.was_clustered IS
    'Whether it was in a cluster that has faded: no sleep pays for another one of it.';

CREATE TABLE hippocampus.faded_sources (
    from_seq  bigint,
    to_seq    bigint,
    id        uuid NOT NULL DEFAULT gen_random_uuid(),
    memory_id uuid NOT NULL,
    source_id uuid NOT NULL,
    thread_id uuid,
    user_id   text COLLATE "C" NOT NULL,
    app_name  text COLLATE "C" NOT NULL,
    CONSTRAINT faded_sources_pkey PRIMARY KEY (user_id, app_name, id),
    CONSTRAINT faded_sources_memory_id_fkey FOREIGN KEY (memory_id, user_id, app_name)
        REFERENCES hippocampus.memory_roles (memory_id, user_id, app_name) ON DELETE CASCADE,
    CONSTRAINT faded_sources_seq_check CHECK ((from_seq IS NULL AND to_seq IS NULL) OR from_seq BETWEEN 1 AND to_seq)
);
CREATE INDEX faded_sources_memory_id_idx ON hippocampus.faded_sources (memory_id, source_id);
CREATE INDEX faded_sources_source_id_idx ON hippocampus.faded_sources (source_id);
CREATE INDEX faded_sources_thread_id_idx ON hippocampus.faded_sources (thread_id, from_seq) WHERE thread_id IS NOT NULL;
COMMENT ON TABLE hippocampus.faded_sources IS
    'What clusters and other memories were made of that has faded since: the faded memory''s id, and which events of which thread it told. It stays made of other memories, so that it is not shared, and goes when one of those events or the thread is forgotten.';
COMMENT ON COLUMN hippocampus.faded_sources.thread_id IS
    'Null where the faded memory came from no thread. No foreign key: a sweep would wait for who holds the thread; a trigger sees it go.';

CREATE TABLE hippocampus.memory_clusters (
    created_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz NOT NULL,
    ended_at   timestamptz NOT NULL,
    id         uuid NOT NULL,
    user_id    text COLLATE "C" NOT NULL,
    app_name   text COLLATE "C" NOT NULL,
    model      text COLLATE "C",
    CONSTRAINT memory_clusters_pkey PRIMARY KEY (id, user_id, app_name),
    CONSTRAINT memory_clusters_id_fkey FOREIGN KEY (id, user_id, app_name)
        REFERENCES hippocampus.memory_roles (memory_id, user_id, app_name) ON DELETE CASCADE,
    CONSTRAINT memory_clusters_model_check CHECK (octet_length(model) <= 255)
);
CREATE INDEX memory_clusters_started_at_idx ON hippocampus.memory_clusters (user_id, app_name, started_at DESC);
COMMENT ON TABLE hippocampus.memory_clusters IS
    'Groups of memories close in time and meaning. Each is a memory itself, of type summary, which names it: so it is searched, fades and is forgotten as others are. Its members may fade before it does.';
CREATE TABLE hippocampus.memory_cluster_members (
    cluster_id uuid NOT NULL,
    memory_id  uuid NOT NULL,
    user_id    text COLLATE "C" NOT NULL,
    app_name   text COLLATE "C" NOT NULL,
    CONSTRAINT memory_cluster_members_pkey PRIMARY KEY (cluster_id, memory_id, user_id, app_name),
    CONSTRAINT memory_cluster_members_cluster_id_fkey FOREIGN KEY (cluster_id, user_id, app_name)
        REFERENCES hippocampus.memory_clusters (id, user_id, app_name) ON DELETE CASCADE,
    CONSTRAINT memory_cluster_members_memory_id_fkey FOREIGN KEY (memory_id, user_id, app_name)
        REFERENCES hippocampus.memories (id, user_id, app_name) ON DELETE CASCADE
);
CREATE INDEX memory_cluster_members_memory_id_idx ON hippocampus.memory_cluster_members (memory_id);
COMMENT ON TABLE hippocampus.memory_cluster_members IS
    'The memories of a cluster. Where one is forgotten, the cluster goes, since its name may tell of it; one that fades just leaves it.';

CREATE TABLE hippocampus.sleep_reports (
    created_at   timestamptz NOT NULL DEFAULT now(),
    started_at   timestamptz,
    completed_at timestamptz,
    links        integer NOT NULL DEFAULT 0,
    tagged       integer NOT NULL DEFAULT 0,
    merged       integer NOT NULL DEFAULT 0,
    clusters     integer NOT NULL DEFAULT 0,
    insights     integer NOT NULL DEFAULT 0,
    model_calls  integer NOT NULL DEFAULT 0,
    id           uuid NOT NULL DEFAULT gen_random_uuid(),
    user_id      text COLLATE "C" NOT NULL,
    app_name     text COLLATE "C" NOT NULL,
    status       text COLLATE "C" NOT NULL DEFAULT 'pending',
    changed_ids  uuid[] NOT NULL DEFAULT '{}',
    error        text,
    CONSTRAINT sleep_reports_pkey PRIMARY KEY (id, user_id, app_name),
    CONSTRAINT sleep_reports_user_id_check CHECK (octet_length(user_id) BETWEEN 1 AND 255),
    CONSTRAINT sleep_reports_app_name_check CHECK (octet_length(app_name) BETWEEN 1 AND 255 AND app_name <> '*'),
    CONSTRAINT sleep_reports_status_check CHECK (status IN ('pending', 'running', 'completed', 'failed', 'cancelled')),
    CONSTRAINT sleep_reports_changed_ids_check CHECK (cardinality(changed_ids) <= 1000),
    CONSTRAINT sleep_reports_error_check CHECK (octet_length(error) <= 2000)
);
CREATE UNIQUE INDEX sleep_reports_waiting_key ON hippocampus.sleep_reports (user_id, app_name)
    WHERE status IN ('pending', 'running');
CREATE INDEX sleep_reports_created_at_idx ON hippocampus.sleep_reports (user_id, app_name, created_at DESC);
COMMENT ON TABLE hippocampus.sleep_reports IS
    'What each sleep changed in a user''s memory, in numbers and ids, and how many calls of a model it cost.';

-- The rates of an app's consolidations, and of a persona's.
CREATE INDEX consolidation_jobs_app_name_idx ON hippocampus.consolidation_jobs (app_name, created_at DESC);
CREATE INDEX consolidation_jobs_user_id_idx ON hippocampus.consolidation_jobs (user_id, app_name, created_at DESC);

DO $policies$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['consolidation_policies', 'consolidation_moves', 'unconsolidated_threads',
            'event_uses', 'untidied_memories', 'memory_labels', 'shared_memories', 'memory_links', 'memory_roles', 'faded_sources', 'memory_clusters',
            'memory_cluster_members', 'sleep_reports'] LOOP
        EXECUTE format('ALTER TABLE hippocampus.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format('ALTER TABLE hippocampus.%I FORCE ROW LEVEL SECURITY', v_table);
        EXECUTE format('CREATE POLICY %I ON hippocampus.%I TO hippocampus_owner, hippocampus_service, '
                       'hippocampus_worker USING (true) WITH CHECK (true)', v_table || '_trusted', v_table);
    END LOOP;
END
$policies$;
CREATE POLICY consolidation_policies_bound ON hippocampus.consolidation_policies
    TO hippocampus_tenant, hippocampus_reader
    USING (app_name = '*' OR app_name = current_setting('hippocampus.app_name', true));
CREATE POLICY consolidation_moves_bound ON hippocampus.consolidation_moves
    TO hippocampus_tenant, hippocampus_reader
    USING (app_name = current_setting('hippocampus.app_name', true));
CREATE POLICY unconsolidated_threads_bound ON hippocampus.unconsolidated_threads
    TO hippocampus_tenant, hippocampus_reader
    USING (user_id = current_setting('hippocampus.user_id', true) AND app_name = current_setting('hippocampus.app_name', true));
CREATE POLICY event_uses_bound ON hippocampus.event_uses
    TO hippocampus_tenant, hippocampus_reader
    USING (user_id = current_setting('hippocampus.user_id', true) AND app_name = current_setting('hippocampus.app_name', true));
CREATE POLICY untidied_memories_bound ON hippocampus.untidied_memories
    TO hippocampus_tenant, hippocampus_reader
    USING (user_id = current_setting('hippocampus.user_id', true) AND app_name = current_setting('hippocampus.app_name', true));
CREATE POLICY memory_labels_bound ON hippocampus.memory_labels
    TO hippocampus_tenant, hippocampus_reader
    USING (user_id = current_setting('hippocampus.user_id', true) AND app_name = current_setting('hippocampus.app_name', true));
CREATE POLICY memory_links_bound ON hippocampus.memory_links
    TO hippocampus_tenant, hippocampus_reader
    USING (user_id = current_setting('hippocampus.user_id', true) AND app_name = current_setting('hippocampus.app_name', true));
CREATE POLICY memory_roles_bound ON hippocampus.memory_roles
    TO hippocampus_tenant, hippocampus_reader
    USING (user_id = current_setting('hippocampus.user_id', true) AND app_name = current_setting('hippocampus.app_name', true));
CREATE POLICY faded_sources_bound ON hippocampus.faded_sources
    TO hippocampus_tenant, hippocampus_reader
    USING (user_id = current_setting('hippocampus.user_id', true) AND app_name = current_setting('hippocampus.app_name', true));
CREATE POLICY memory_clusters_bound ON hippocampus.memory_clusters
    TO hippocampus_tenant, hippocampus_reader
    USING (user_id = current_setting('hippocampus.user_id', true) AND app_name = current_setting('hippocampus.app_name', true));
CREATE POLICY memory_cluster_members_bound ON hippocampus.memory_cluster_members
    TO hippocampus_tenant, hippocampus_reader
    USING (user_id = current_setting('hippocampus.user_id', true) AND app_name = current_setting('hippocampus.app_name', true));
CREATE POLICY sleep_reports_bound ON hippocampus.sleep_reports
    TO hippocampus_tenant, hippocampus_reader
    USING (user_id = current_setting('hippocampus.user_id', true) AND app_name = current_setting('hippocampus.app_name', true));
-- Whoever is bound to a user of the app sees what the app shares, whosever it is. Nobody but the trigger writes it.
CREATE POLICY shared_memories_bound ON hippocampus.shared_memories FOR SELECT
    TO hippocampus_tenant, hippocampus_reader
    USING (current_setting('hippocampus.user_id', true) <> '' AND app_name = current_setting('hippocampus.app_name', true));

CREATE VIEW hippocampus.recollections WITH (security_invoker = true) AS
SELECT ''::text AS tier, m.id, m.category, m.shared_by AS memory_type, m.content,
    0::double precision AS score, 0::double precision AS importance, m.tags, m.metadata AS context, m.author, m.source,
    m.thread_id, m.from_seq, m.to_seq, m.occurred_from AS occurred_at, m.last_accessed_at, m.access_count, m.shared_by, m.trust
FROM hippocampus.memories m WHERE false;
COMMENT ON VIEW hippocampus.recollections IS
    'What recall returns: an event of short-term memory (tier short), a memory (long), or one that another user of the app shares (shared); trust is whose words it holds.';
CREATE VIEW hippocampus.retention_plans WITH (security_invoker = true) AS
SELECT m.id AS memory_id, m.user_id, m.app_name, m.memory_type, m.category, ''::text AS reason,
    0::double precision AS score, 0::double precision AS threshold, 0::double precision AS age_days,
    0::integer AS min_age_days, 0::bigint AS place, 0::integer AS max_per_user
FROM hippocampus.memories m WHERE false;
COMMENT ON VIEW hippocampus.retention_plans IS 'What preview_retention returns: a memory that the next sweep would delete, and why.';
CREATE VIEW hippocampus.memory_tiers WITH (security_invoker = true) AS
SELECT ''::text AS tier, ''::text AS kind, 0::bigint AS rows, 0::bigint AS bytes, 0::bigint AS tokens,
    0::double precision AS importance, 0::bigint AS high, 0::bigint AS medium, 0::bigint AS low, 0::bigint AS last_day
FROM hippocampus.memories m WHERE false;
COMMENT ON VIEW hippocampus.memory_tiers IS 'What persona_stats returns: a row a kind of what a user''s memory holds.';
CREATE VIEW hippocampus.named_clusters WITH (security_invoker = true) AS
SELECT c.id, m.content AS name, c.started_at, c.ended_at, 0::bigint AS members, c.created_at, c.model
FROM hippocampus.memory_clusters c
JOIN hippocampus.memories m ON m.id = c.id AND m.user_id = c.user_id AND m.app_name = c.app_name WHERE false;
COMMENT ON VIEW hippocampus.named_clusters IS 'What list_clusters returns: a cluster, what names it, and how many memories it holds.';
GRANT SELECT ON hippocampus.recollections, hippocampus.retention_plans, hippocampus.memory_tiers, hippocampus.named_clusters
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;

GRANT SELECT ON hippocampus.event_uses, hippocampus.untidied_memories, hippocampus.memory_labels, hippocampus.shared_memories, hippocampus.memory_links, hippocampus.memory_roles, hippocampus.faded_sources, hippocampus.memory_clusters,
    hippocampus.memory_cluster_members, hippocampus.sleep_reports
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
GRANT INSERT, DELETE ON hippocampus.event_uses, hippocampus.untidied_memories
    TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
GRANT UPDATE (access_count, last_accessed_at) ON hippocampus.event_uses TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
GRANT INSERT, DELETE ON hippocampus.memory_labels, hippocampus.memory_roles TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
GRANT UPDATE (was_clustered) ON hippocampus.memory_roles TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
-- A tenant's own go with the memory: what is said here keeps it from being shared.
GRANT INSERT ON hippocampus.faded_sources TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
GRANT DELETE ON hippocampus.faded_sources TO hippocampus_service, hippocampus_worker;
GRANT INSERT, DELETE ON hippocampus.memory_links TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
GRANT UPDATE (weight) ON hippocampus.memory_links TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
GRANT DELETE ON hippocampus.memory_clusters, hippocampus.memory_cluster_members, hippocampus.sleep_reports
    TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
GRANT INSERT ON hippocampus.memory_clusters, hippocampus.memory_cluster_members TO hippocampus_service, hippocampus_worker;
GRANT INSERT, UPDATE ON hippocampus.sleep_reports TO hippocampus_service, hippocampus_worker;
GRANT UPDATE (changed_ids) ON hippocampus.sleep_reports TO hippocampus_tenant; -- what is forgotten is named nowhere
GRANT UPDATE (embedding, generation) ON hippocampus.shared_memories TO hippocampus_worker;
GRANT SELECT ON hippocampus.consolidation_policies, hippocampus.consolidation_moves, hippocampus.unconsolidated_threads
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
GRANT INSERT (thread_id, user_id, app_name) ON hippocampus.unconsolidated_threads TO hippocampus_tenant;
GRANT INSERT, DELETE ON hippocampus.unconsolidated_threads TO hippocampus_service, hippocampus_worker;
GRANT INSERT, UPDATE, DELETE ON hippocampus.consolidation_policies TO hippocampus_service, hippocampus_worker;
GRANT INSERT ON hippocampus.consolidation_moves TO hippocampus_service, hippocampus_worker;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DROP INDEX hippocampus.consolidation_jobs_app_name_idx, hippocampus.consolidation_jobs_user_id_idx, hippocampus.memories_shared_idx;
DROP VIEW hippocampus.named_clusters, hippocampus.retention_plans, hippocampus.memory_tiers, hippocampus.recollections;
DROP TABLE hippocampus.sleep_reports, hippocampus.memory_cluster_members, hippocampus.memory_clusters, hippocampus.faded_sources, hippocampus.memory_roles, hippocampus.memory_links;
DROP TABLE hippocampus.shared_memories, hippocampus.memory_labels, hippocampus.untidied_memories, hippocampus.event_uses, hippocampus.unconsolidated_threads, hippocampus.consolidation_moves, hippocampus.consolidation_policies;
-- +goose StatementEnd
