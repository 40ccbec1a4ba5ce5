-- The shapes of rows that functions return. They hold no data; sqlc reads their columns and what may be null.

-- +goose Up
-- +goose StatementBegin
CREATE VIEW hippocampus.memory_hits WITH (security_invoker = true) AS
SELECT m.id AS memory_id, m.content, m.memory_type, m.category,
    0::double precision AS score, 0::double precision AS relevance,
    0::double precision AS text_score, 0::double precision AS vector_score,
    0::double precision AS retention, 0::double precision AS recency,
    0::double precision AS word_score, 0::double precision AS worth, true::boolean AS asked, true::boolean AS timely, 0::double precision AS nearby_score,
    0::double precision AS spread, 0::double precision AS lent, m.thread_id, m.from_seq, m.to_seq, m.author, m.source, m.occurred_from, m.occurred_until, m.created_at,
    m.access_count, m.token_count, m.token_count_exact, m.tags, m.metadata, m.content_hash, m.trust
FROM hippocampus.memories m WHERE false;
COMMENT ON VIEW hippocampus.memory_hits IS
    'What search_memory returns: a memory and every part of its score. text_score is made of word_score (BM25 of its words, its neighbours'' and its conversation''s, as a share of the best), asked (its author is the one that the query is about), timely (it is of the time that the query asks about, by the calendar or by an event) and worth (less for a turn that is short or only asks). nearby_score is how much nearer in meaning than the farthest hit the turns beside it are, 0 for what is no turn. spread was taken off the score, as others of its conversation stand before it; lent was added, as it tells what holds now of what another hit told before.';

CREATE VIEW hippocampus.recall_hits WITH (security_invoker = true) AS
SELECT ''::text AS source, m.id, m.content, m.memory_type AS kind, 0::double precision AS score,
    0::double precision AS similarity, 0::double precision AS strength, 0::double precision AS recency,
    m.created_at, m.occurred_from AS occurred_at, m.thread_id, m.trust
FROM hippocampus.memories m WHERE false;
COMMENT ON VIEW hippocampus.recall_hits IS 'What recall_memories returns: a fact or a memory, by source, with every part of its score and whose words it holds (trust).';

CREATE VIEW hippocampus.event_hits WITH (security_invoker = true) AS
SELECT e.id, e.thread_id, e.sequence_num, 0::double precision AS score, e.author, e.event_type, e.category, e.text,
    e.content, e.importance, e.token_count, e.token_count_exact, e.created_at, ''::text AS trust
FROM hippocampus.events e WHERE false;
COMMENT ON VIEW hippocampus.event_hits IS 'What recall_conversation returns: an event, its score, and whose words it holds (trust).';

CREATE VIEW hippocampus.context_entries WITH (security_invoker = true) AS
SELECT ''::text AS context_type, ''::text AS content, 0::double precision AS relevance_score, 0::integer AS token_estimate,
    0::integer AS position, true::boolean AS included, e.text AS omitted_reason,
    m.thread_id AS source_id, m.from_seq AS source_seq, m.thread_id AS source_thread_id
FROM hippocampus.memories m JOIN hippocampus.events e ON false WHERE false;
COMMENT ON VIEW hippocampus.context_entries IS
    'What get_context_window returns: the entries of a window in order, and, when asked for, what was left out and why.';

CREATE VIEW hippocampus.context_lines WITH (security_invoker = true) AS
SELECT 0::bigint AS rank, e.id, e.thread_id, e.sequence_num, ''::text AS line, 0::integer AS cost
FROM hippocampus.events e WHERE false;
COMMENT ON VIEW hippocampus.context_lines IS
    'The events that a window could show, newest first, each as a line with the tokens that it costs at most.';

CREATE VIEW hippocampus.retention_bands WITH (security_invoker = true) AS
SELECT 0::bigint AS total, 0::bigint AS high, 0::bigint AS medium, 0::bigint AS low,
    0::double precision AS average_score;
COMMENT ON VIEW hippocampus.retention_bands IS
    'What retention_distribution returns: memories with a score of 0.7 and more, 0.3 to 0.7, and below 0.3.';

CREATE VIEW hippocampus.memory_statistics WITH (security_invoker = true) AS
SELECT 0::bigint AS threads, 0::bigint AS events, 0::bigint AS events_consolidated, 0::bigint AS memories,
    0::bigint AS episodic, 0::bigint AS semantic, 0::bigint AS summaries, 0::bigint AS facts_current,
    0::bigint AS facts_history, 0::bigint AS blocks, 0::bigint AS embeddings, 0::bigint AS embeddings_queued,
    0::bigint AS jobs_pending, 0::bigint AS jobs_running, 0::bigint AS jobs_failed, 0::bigint AS tokens;
COMMENT ON VIEW hippocampus.memory_statistics IS 'What memory_stats returns.';

CREATE VIEW hippocampus.findings WITH (security_invoker = true) AS
SELECT ''::text AS name, ''::text AS status, ''::text AS detail, ''::text AS hint;
COMMENT ON VIEW hippocampus.findings IS 'What doctor returns: a row a check, status ok, warning or error.';

CREATE VIEW hippocampus.retention_batches WITH (security_invoker = true) AS
SELECT 0::integer AS scanned, 0::integer AS refreshed, 0::integer AS deleted,
    m.user_id AS after_user_id, m.app_name AS after_app_name, m.created_at AS after_created_at, m.id AS after_id
FROM hippocampus.memories m WHERE false;
COMMENT ON VIEW hippocampus.retention_batches IS
    'What sweep_retention returns: what one batch did, and where the next begins; after_id is null at the end.';

CREATE VIEW hippocampus.thread_hits WITH (security_invoker = true) AS
SELECT t.id AS thread_id, t.session_id, 0::double precision AS score, m.id AS memory_id, m.content, 0::bigint AS memories,
    m.occurred_from, m.occurred_until
FROM hippocampus.threads t JOIN hippocampus.memories m ON false WHERE false;
COMMENT ON VIEW hippocampus.thread_hits IS 'What search_threads returns: a conversation, its score, and its best memory.';

CREATE VIEW hippocampus.ranking_trials WITH (security_invoker = true) AS
SELECT 0::double precision AS vector_share, 0::bigint AS queries, 0::double precision AS recall_10, 0::double precision AS recall_error,
    0::double precision AS mrr
WHERE false;
COMMENT ON VIEW hippocampus.ranking_trials IS 'What try_ranking returns: how well a mix of words and vectors finds; recall_error is the standard error of recall_10.';

CREATE VIEW hippocampus.similarity_distributions WITH (security_invoker = true) AS
SELECT ''::text AS pairs_of, 0::bigint AS pairs, 0::double precision AS p05, 0::double precision AS p50,
    0::double precision AS p90, 0::double precision AS p99, 0::double precision AS p999
WHERE false;
COMMENT ON VIEW hippocampus.similarity_distributions IS
    'What similarity_distribution returns: a kind of pairs, how many were measured, and percentiles of their cosine similarity.';

GRANT SELECT ON hippocampus.memory_hits, hippocampus.recall_hits, hippocampus.event_hits, hippocampus.context_entries,
    hippocampus.context_lines, hippocampus.retention_bands, hippocampus.memory_statistics, hippocampus.findings, hippocampus.retention_batches,
    hippocampus.similarity_distributions, hippocampus.thread_hits, hippocampus.ranking_trials
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DROP VIEW hippocampus.memory_hits, hippocampus.recall_hits, hippocampus.event_hits, hippocampus.context_entries,
    hippocampus.context_lines, hippocampus.retention_bands, hippocampus.memory_statistics, hippocampus.findings, hippocampus.retention_batches,
    hippocampus.similarity_distributions, hippocampus.thread_hits, hippocampus.ranking_trials;
-- +goose StatementEnd
