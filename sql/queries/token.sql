-- name: TokenIsDue :one
SELECT (EXISTS (SELECT FROM hippocampus.events e WHERE NOT e.token_count_exact)
    OR EXISTS (SELECT FROM hippocampus.memories m WHERE NOT m.token_count_exact)
    OR EXISTS (SELECT FROM hippocampus.facts f WHERE NOT f.token_count_exact)
    OR EXISTS (SELECT FROM hippocampus.memory_blocks b WHERE NOT b.token_count_exact)
    OR EXISTS (SELECT FROM hippocampus.instructions i WHERE NOT i.token_count_exact))::boolean AS due;

-- name: TokenListUncounted :many
-- The text of each is what its token_count counts. A row that somebody holds is passed over, not given again and
-- again: those behind it get their turn.
WITH events AS (
    SELECT e.id, e.user_id, e.app_name, e.author, e.text
    FROM hippocampus.events e WHERE NOT e.token_count_exact LIMIT @max_rows FOR NO KEY UPDATE SKIP LOCKED
), memories AS (
    SELECT m.id, m.user_id, m.app_name, m.content
    FROM hippocampus.memories m WHERE NOT m.token_count_exact LIMIT @max_rows FOR NO KEY UPDATE SKIP LOCKED
), facts AS (
    SELECT f.id, f.user_id, f.app_name, f.key, f.value
    FROM hippocampus.facts f WHERE NOT f.token_count_exact LIMIT @max_rows FOR NO KEY UPDATE SKIP LOCKED
), blocks AS (
    SELECT b.user_id, b.app_name, b.key, b.version, b.value
    FROM hippocampus.memory_blocks b WHERE NOT b.token_count_exact LIMIT @max_rows FOR NO KEY UPDATE SKIP LOCKED
), instructions AS (
    SELECT i.app_name, i.instruction_key, i.version, i.content
    FROM hippocampus.instructions i WHERE NOT i.token_count_exact LIMIT @max_rows FOR NO KEY UPDATE SKIP LOCKED
)
SELECT 'event'::text AS source, e.id, e.user_id, e.app_name, ''::text AS key, 0::bigint AS version,
    (e.author || ': ' || e.text)::text AS text FROM events e
UNION ALL SELECT 'memory'::text, m.id, m.user_id, m.app_name, ''::text, 0::bigint, m.content FROM memories m
UNION ALL SELECT 'fact'::text, f.id, f.user_id, f.app_name, ''::text, 0::bigint, hippocampus._fact_text(f.key, f.value)::text FROM facts f
UNION ALL SELECT 'block'::text, gen_random_uuid(), b.user_id, b.app_name, b.key, b.version, b.value FROM blocks b
UNION ALL SELECT 'instruction'::text, gen_random_uuid(), ''::text, i.app_name, i.instruction_key, i.version::bigint, i.content FROM instructions i;

-- name: TokenSetBlock :execrows
WITH held AS (
    SELECT h.user_id, h.app_name, h.key FROM hippocampus.memory_blocks h
    WHERE h.user_id = @user_id AND h.app_name = @app_name AND h.key = @key AND h.version = @version
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE hippocampus.memory_blocks b SET token_count = @token_count, token_count_exact = true
FROM held h WHERE b.user_id = h.user_id AND b.app_name = h.app_name AND b.key = h.key;

-- name: TokenSetEvents :execrows
-- An id is unique within its tenant only, so rows are named with their tenant. They are locked in the order of
-- their ids, and those that somebody holds are left for the next time.
WITH held AS (
    SELECT h.id, h.user_id, h.app_name FROM hippocampus.events h
    WHERE (h.id, h.user_id, h.app_name) IN (SELECT unnest(@ids::uuid[]), unnest(@user_ids::text[]), unnest(@app_names::text[]))
    ORDER BY h.id FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE hippocampus.events e SET token_count = v.token_count, token_count_exact = true
FROM held h
JOIN (SELECT unnest(@ids::uuid[]) AS id, unnest(@user_ids::text[]) AS user_id, unnest(@app_names::text[]) AS app_name,
          unnest(@token_counts::integer[]) AS token_count) v ON v.id = h.id AND v.user_id = h.user_id AND v.app_name = h.app_name
WHERE e.id = h.id AND e.user_id = h.user_id AND e.app_name = h.app_name;

-- name: TokenSetFacts :execrows
WITH held AS (
    SELECT h.id, h.user_id, h.app_name FROM hippocampus.facts h
    WHERE (h.id, h.user_id, h.app_name) IN (SELECT unnest(@ids::uuid[]), unnest(@user_ids::text[]), unnest(@app_names::text[]))
    ORDER BY h.id FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE hippocampus.facts f SET token_count = v.token_count, token_count_exact = true
FROM held h
JOIN (SELECT unnest(@ids::uuid[]) AS id, unnest(@user_ids::text[]) AS user_id, unnest(@app_names::text[]) AS app_name,
          unnest(@token_counts::integer[]) AS token_count) v ON v.id = h.id AND v.user_id = h.user_id AND v.app_name = h.app_name
WHERE f.id = h.id AND f.user_id = h.user_id AND f.app_name = h.app_name;

-- name: TokenSetInstruction :execrows
-- Nobody else updates an instruction.
UPDATE hippocampus.instructions i SET token_count = @token_count, token_count_exact = true
WHERE i.app_name = @app_name AND i.instruction_key = @key AND i.version = @version;

-- name: TokenSetMemories :execrows
WITH held AS (
    SELECT h.id, h.user_id, h.app_name FROM hippocampus.memories h
    WHERE (h.id, h.user_id, h.app_name) IN (SELECT unnest(@ids::uuid[]), unnest(@user_ids::text[]), unnest(@app_names::text[]))
    ORDER BY h.id FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE hippocampus.memories m SET token_count = v.token_count, token_count_exact = true
FROM held h
JOIN (SELECT unnest(@ids::uuid[]) AS id, unnest(@user_ids::text[]) AS user_id, unnest(@app_names::text[]) AS app_name,
          unnest(@token_counts::integer[]) AS token_count) v ON v.id = h.id AND v.user_id = h.user_id AND v.app_name = h.app_name
WHERE m.id = h.id AND m.user_id = h.user_id AND m.app_name = h.app_name;
