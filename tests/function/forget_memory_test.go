package function_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
)

// consolidated is a conversation of which a job has drawn what it would: episodes, a summary, an insight, two facts.
func (b *testBundle) consolidated(t *testing.T) (thread uuid.UUID, fact, other uuid.UUID) {
	t.Helper()
	thread = b.thread(t)
	for _, text := range []string{"I NEVER want to use zqxredux again, it was a nightmare", "Noted", "Oh and I tried that new cafe on Sukhumvit", "Nice"} {
		b.exec(t, "SELECT hippocampus.append_event($1, 'user', 'message', jsonb_build_object('text', $2::text))", thread, text)
		seq := get[int64](t, b, "SELECT next_seq - 1 FROM hippocampus.threads WHERE id = $1", thread)
		b.rememberWith(t, "user: "+text, "p_memory_type => 'episodic', p_thread_id => $5, p_from_seq => $6", thread, seq)
	}
	job := get[uuid.UUID](t, b, "SELECT hippocampus.enqueue_consolidation($1)", thread)
	draw := func(column string, id uuid.UUID, from, to int64) uuid.UUID {
		b.exec(t, "INSERT INTO hippocampus.memory_sources ("+column+", thread_id, user_id, app_name, from_seq, to_seq, job_id) VALUES ($1, $2, $3, $4, $5, $6, $7)",
			id, thread, b.UserID, b.AppName, from, to, job)
		return id
	}
	draw("memory_id", b.rememberWith(t, "The user dislikes zqxredux and tried a cafe", "p_memory_type => 'summary', p_thread_id => $5, p_from_seq => 1, p_to_seq => 4", thread), 1, 4)
	draw("memory_id", b.remember(t, "They avoid zqxredux in projects"), 1, 4)
	fact = draw("fact_id", get[uuid.UUID](t, b, `SELECT hippocampus.upsert_fact($1, $2, 'preference', 'about_zqxredux', '"strongly dislikes zqxredux"', p_thread_id => $3)`,
		b.UserID, b.AppName, thread), 1, 4)
	other = draw("fact_id", get[uuid.UUID](t, b, `SELECT hippocampus.upsert_fact($1, $2, 'custom', 'tried_cafe', '"tried a cafe on Sukhumvit"', p_thread_id => $3)`,
		b.UserID, b.AppName, thread), 3, 3)
	b.exec(t, `UPDATE hippocampus.consolidation_jobs SET raw_reply = 'zqxredux', error = 'zqxredux', result = jsonb_build_object('fact_ids', ARRAY[$2::text]) WHERE id = $1`, job, fact)
	b.exec(t, `UPDATE hippocampus.river_job SET errors = ARRAY['{"error": "zqxredux"}'::jsonb] WHERE args ->> 'thread_id' = $1`, thread.String())
	return thread, fact, other
}

func TestForgetMemory(t *testing.T) {
	t.Parallel()

	t.Run("LeavesNothingButTheLog", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread, fact, other := b.consolidated(t)
		preview := list[string](t, b, "SELECT text FROM hippocampus.preview_forget($1, $2, 'that I dislike zqxredux', p_threshold => 0.4)", b.UserID, b.AppName)
		require.NotEmpty(t, preview)
		require.NotContains(t, preview, "tried cafe: tried a cafe on Sukhumvit")
		b.exec(t, "SELECT * FROM hippocampus.forget_memory($1, $2, 'that I dislike zqxredux', p_threshold => 0.4)", b.UserID, b.AppName)
		require.Equal(t, []string{"events.content", "events.text"}, b.holders(t, "zqx"))
		require.Empty(t, b.holders(t, fact.String()))
		require.Equal(t, []int64{1}, list[int64](t, b, "SELECT sequence_num FROM hippocampus.forgotten_events WHERE thread_id = $1", thread))
		require.Empty(t, list[string](t, b, "SELECT text FROM hippocampus.recall_conversation($1, $2, 'zqxredux') WHERE text ~ 'zqx'", b.UserID, b.AppName))
		// No window shows it again, of the thread or of all threads.
		for _, of := range []*uuid.UUID{nil, &thread} {
			lines := list[string](t, b, "SELECT content FROM hippocampus.get_context_window($1, $2, 'zqxredux', p_thread_id => $3)", b.UserID, b.AppName, of)
			require.NotEmpty(t, lines)
			require.NotContains(t, strings.Join(lines, "\n"), "zqx")
		}
		// What the same conversation told of other things stays.
		require.Len(t, b.facts(t), 1)
		require.Equal(t, other, b.facts(t)[0].ID)
		require.Equal(t, int64(1), get[int64](t, b, "SELECT forgettings FROM hippocampus.threads WHERE id = $1", thread))

		// No consolidation reads it again, from the first event on.
		events, err := db.New().EventListForModel(t.Context(), b, &db.EventListForModelParams{MaxRows: 100, MaxTokens: 10000, ThreadID: thread})
		require.NoError(t, err)
		require.Len(t, events, 3)
		for _, e := range events {
			require.NotContains(t, e.Text, "zqx")
		}
	})

	// The description says which of two things is meant; the episode that tells both goes, the fact of the other stays.
	t.Run("OfATurnThatTellsTwoThings", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct{ turn, query, location, pet, gone string }{
			{"I live in Berlin and I have a dog named Rex", "that I live in Berlin", "Berlin", "dog named Rex", "Berlin"},
			{"I live in Berlin and I have a dog named Rex", "the dog named Rex", "Berlin", "dog named Rex", "dog named Rex"},
			{"我住在成都，我养了一只狗，叫旺财。", "我住在成都", "成都", "狗 旺财", "成都"},
			{"我住在成都，我养了一只狗，叫旺财。", "我的狗旺财", "成都", "狗 旺财", "狗 旺财"},
		} {
			b := setup(t)
			thread, _ := b.said(t, c.turn)
			b.rememberWith(t, c.turn, "p_memory_type => 'episodic', p_thread_id => $5, p_from_seq => 1", thread)
			b.drawnFact(t, "location", c.location, thread, 1, 1)
			b.drawnFact(t, "pet", c.pet, thread, 1, 1)
			b.exec(t, "SELECT * FROM hippocampus.forget_memory($1, $2, $3, p_threshold => 0.4)", b.UserID, b.AppName, c.query)
			stays := c.location
			if c.gone == c.location {
				stays = c.pet
			}
			require.Equal(t, []string{stays}, b.kept(t), c.query)
		}
	})

	// What the preview tells is what goes, to the row: also where a fact's words stand in no event, and all of its source goes.
	t.Run("ThePreviewTellsAll", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, fact, _ := b.consolidated(t)
		derived := b.remember(t, "They like other tools")
		b.exec(t, "SELECT hippocampus.link_memories($1, $2, $3, (SELECT id FROM hippocampus.memories WHERE user_id = $1 AND content ~ 'avoid'), 'derived_from')", b.UserID, b.AppName, derived)
		thread, _ := b.said(t, "no way", "never", "ever")
		b.drawnFact(t, "flying", "refuses planes", thread, 1, 3)
		type counts struct{ Memories, Facts, Events, Threads int64 }
		for _, query := range []string{"refuses planes", "that I dislike zqxredux"} {
			preview := rowOf[counts](t, b, `SELECT count(*) FILTER (WHERE source = 'memory') AS memories, count(*) FILTER (WHERE source = 'fact') AS facts,
				count(*) FILTER (WHERE source = 'event') AS events, 0::bigint AS threads FROM hippocampus.preview_forget($1, $2, $3, p_threshold => 0.4)`, b.UserID, b.AppName, query)
			matches := list[bool](t, b, "SELECT meant FROM hippocampus.preview_forget($1, $2, $3, p_threshold => 0.4)", b.UserID, b.AppName, query)
			require.Len(t, matches, int(preview.Memories+preview.Facts+preview.Events))
			require.True(t, matches[0], query)
			along := slices.Index(matches, false)
			require.Positive(t, along)
			require.NotContains(t, matches[along:], true, "what is meant comes first")
			ids := list[uuid.UUID](t, b, "SELECT id FROM hippocampus.preview_forget($1, $2, $3, p_threshold => 0.4) WHERE source <> 'event'", b.UserID, b.AppName, query)
			require.Equal(t, preview, rowOf[counts](t, b, "SELECT * FROM hippocampus.forget_memory($1, $2, $3, p_threshold => 0.4)", b.UserID, b.AppName, query), query)
			require.Zero(t, get[int](t, b, "SELECT (SELECT count(*) FROM hippocampus.memories WHERE id = ANY ($1)) + (SELECT count(*) FROM hippocampus.facts WHERE id = ANY ($1))", ids))
			if query == "refuses planes" {
				require.Equal(t, counts{Facts: 1, Events: 3}, preview)
			} else {
				require.Contains(t, ids, fact)
				require.Contains(t, ids, derived)
			}
		}
	})

	// A summary of a thread goes with its events, and takes nobody's place among those that are meant.
	t.Run("TheLimitIsOfWhatIsMeant", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		for i := range 9 {
			b.rememberWith(t, fmt.Sprint("summary ", i), "p_memory_type => 'summary', p_thread_id => $5, p_from_seq => $6, p_embedding => $7", thread, i+1, nearTo(0.99))
		}
		for i := range 3 {
			b.rememberWith(t, fmt.Sprint("insight ", i), "p_embedding => $5", nearTo(0.9-float64(i)/100))
		}
		b.rememberWith(t, "far from it", "p_embedding => $5", nearTo(0.1))
		const meant = "SELECT text FROM hippocampus.preview_forget($1, $2, 'it', $3, 0.5, $4) WHERE meant"
		for limit, want := range map[int][]string{1: {"insight 0"}, 2: {"insight 0", "insight 1"}, 100: {"insight 0", "insight 1", "insight 2"}} {
			require.Equal(t, want, list[string](t, b, meant, b.UserID, b.AppName, nearTo(1), limit))
		}
		b.exec(t, "SELECT hippocampus.forget_memory($1, $2, 'it', $3, 0.5, 2)", b.UserID, b.AppName, nearTo(1))
		require.Equal(t, []string{"insight 2"}, list[string](t, b, meant, b.UserID, b.AppName, nearTo(1), 100))
	})

	t.Run("ErasesTheLogWhereAsked", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread, _, _ := b.consolidated(t)
		b.exec(t, "SELECT * FROM hippocampus.forget_memory($1, $2, 'that I dislike zqxredux', p_threshold => 0.4, p_log => 'erase')", b.UserID, b.AppName)
		require.Empty(t, b.holders(t, "zqx"))
		require.Equal(t, 4, get[int](t, b, "SELECT count(*) FROM hippocampus.events WHERE thread_id = $1", thread)) // the numbers have no gap
		b.refuses(t, "HC009", "p_log", "SELECT hippocampus.forget_memory($1, $2, 'x', p_log => 'burn')", b.UserID, b.AppName)
	})

	t.Run("ById", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, fact, _ := b.consolidated(t)
		b.exec(t, "SELECT hippocampus.forget($1, $2, $3, 'erase')", b.UserID, b.AppName, []uuid.UUID{fact})
		require.NotContains(t, b.holders(t, "zqx"), "facts.value")
		require.NotContains(t, b.holders(t, "zqx"), "events.text")
		require.Empty(t, list[string](t, b, "SELECT content FROM hippocampus.memories WHERE user_id = $1 AND memory_type <> 'semantic' AND content ~ 'zqx'", b.UserID))
	})

	t.Run("WhatWasNotConsolidatedYet", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		b.exec(t, `SELECT hippocampus.append_event($1, 'user', 'message', '{"text": "I strongly dislike zqxredux"}')`, thread)
		b.exec(t, `SELECT hippocampus.append_event($1, 'user', 'message', '{"text": "the weather is fine"}')`, thread)
		b.remember(t, "The user strongly dislikes zqxredux")
		b.exec(t, "SELECT * FROM hippocampus.forget_memory($1, $2, 'zqxredux', p_threshold => 0.4)", b.UserID, b.AppName)
		require.Equal(t, []int64{1}, list[int64](t, b, "SELECT sequence_num FROM hippocampus.forgotten_events WHERE thread_id = $1", thread))
	})
}

func TestForgetUser(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.consolidated(t)
	b.exec(t, "SELECT hippocampus.block_set($1, $2, 'persona', 'zqxblock')", b.UserID, b.AppName)
	b.rememberWith(t, "zqxvector", "p_embedding => $5", vector(1))
	other := setup(t)
	other.Tx = b.Tx
	other.remember(t, "another's")
	type counts struct{ Memories, Facts, Events, Threads int64 }
	require.Equal(t, counts{Memories: 7, Facts: 2, Events: 4, Threads: 1},
		rowOf[counts](t, b, "SELECT * FROM hippocampus.forget_user($1, $2)", b.UserID, b.AppName))
	require.Empty(t, b.holders(t, "zqx"))
	require.Empty(t, b.holders(t, b.UserID))
	require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.memories WHERE user_id = $1", other.UserID))
	require.Equal(t, counts{}, rowOf[counts](t, b, "SELECT * FROM hippocampus.forget_user($1, $2)", b.UserID, b.AppName))

	// Who comes back in the same transaction is forgotten row by row again, out of every index.
	again := b.rememberWith(t, "zqxagain", "p_embedding => $5, p_tags => '{zqxtag}'", vector(1))
	b.exec(t, "SELECT hippocampus.forget($1, $2, ARRAY[$3::uuid])", b.UserID, b.AppName, again)
	require.Empty(t, b.holders(t, "zqx"))
	require.Empty(t, b.holders(t, again.String()))
}

// What refers to a memory through another table, or is kept by a trigger, goes with it as by a foreign key.
func TestForgetTakesRolesAndListsAlong(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const role = "INSERT INTO hippocampus.named_memories (memory_id, user_id, app_name, kind, name, given) VALUES ($3, $1, $2, 'note', $4, sha256('given'))"
	id, stays := b.remember(t, "zqxnamed"), b.remember(t, "another one")
	b.exec(t, role, b.UserID, b.AppName, id, "zqxname")
	b.exec(t, role, b.UserID, b.AppName, stays, "a name")
	b.refuses(t, "23503", "memory_roles", role, b.UserID, b.AppName, uuid.New(), "of nothing")
	b.refuses(t, "23503", "memory_roles", role, b.UserID, b.AppName+"x", stays, "of another's")
	anchor := uuid.New()
	b.exec(t, `INSERT INTO hippocampus.anchors (id, user_id, app_name, key, kind, term, since, until, df) VALUES ($3, $1, $2, 'a term', 'word', 'a term', 1, 1, 1)`, b.UserID, b.AppName, anchor)
	b.exec(t, `INSERT INTO hippocampus.anchor_chunks (generation, score, anchor_id, row_id, memory_id, user_id, app_name)
		SELECT 1, 0.9, $3, m, m, $1, $2 FROM unnest($4::uuid[]) m`, b.UserID, b.AppName, anchor, []uuid.UUID{id, stays})
	b.exec(t, "INSERT INTO hippocampus.untidied_memories (memory_id, user_id, app_name) SELECT m, $1, $2 FROM unnest($3::uuid[]) m",
		b.UserID, b.AppName, []uuid.UUID{id, stays})
	b.exec(t, "SELECT hippocampus.forget($1, $2, ARRAY[$3::uuid])", b.UserID, b.AppName, id)
	require.Empty(t, b.holders(t, "zqx"))
	require.Empty(t, b.holders(t, id.String()))
	for _, table := range []string{"anchor_chunks", "memory_roles", "named_memories", "untidied_memories"} {
		require.Equal(t, []uuid.UUID{stays}, list[uuid.UUID](t, b, "SELECT memory_id FROM hippocampus."+table+" WHERE user_id = $1", b.UserID), table)
	}
}

// Nothing of a user is left in any column of any table, of whatever kind it was stored as.
func TestForgetUserLeavesNothingOfAnyKind(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, "INSERT INTO hippocampus.consolidation_policies (app_name, enabled, sharing, sleep_enabled) VALUES ($1, true, true, true)", b.AppName)
	thread, _, _ := b.consolidated(t)
	one := b.rememberWith(t, "zqxone", "p_embedding => $5, p_tags => '{zqxtag}', p_metadata => '{\"zqxkey\": \"zqxvalue\"}'", vector(1))
	two := b.remember(t, "zqxtwo")
	named := b.rememberWith(t, "zqxcluster", "p_memory_type => 'summary'")
	b.exec(t, "SELECT hippocampus.share_memory($1, $2, $3)", b.UserID, b.AppName, two)
	b.exec(t, "SELECT hippocampus.link_memories($1, $2, $3, $4)", b.UserID, b.AppName, one, two)
	b.exec(t, "INSERT INTO hippocampus.memory_clusters (id, user_id, app_name, started_at, ended_at, model) VALUES ($3, $1, $2, now(), now(), 'zqxmodel')", b.UserID, b.AppName, named)
	b.exec(t, "INSERT INTO hippocampus.memory_cluster_members (cluster_id, memory_id, user_id, app_name) VALUES ($3, $4, $1, $2)", b.UserID, b.AppName, named, one)
	b.exec(t, "INSERT INTO hippocampus.faded_sources (memory_id, source_id, thread_id, from_seq, to_seq, user_id, app_name) VALUES ($3, gen_random_uuid(), $4, 1, 1, $1, $2)",
		b.UserID, b.AppName, named, thread)
	for _, call := range []string{
		"append_event(hippocampus.create_thread($1, $2, 'zqxsession', '{\"zqxkey\": 1}'), 'zqxauthor', 'message', '{\"text\": \"zqxtext\"}')",
		"block_set($1, $2, 'zqxblock', 'zqxvalue')",
		"enqueue_sleep($1, $2)",
		"graph_add_observations($1, $2, '[{\"entityName\": \"zqxname\", \"contents\": [\"zqxmore\"]}]')",
		"graph_create_relations($1, $2, '[{\"from\": \"zqxname\", \"to\": \"zqxname\", \"relationType\": \"zqxis\"}]')",
		"load_skill($1, $2, 'zqxskill', 'zqxmanifest')",
		"put_anchor_denylist($1, $2, '{zqxterm}')",
		"put_document($1, $2, 'zqxpath', '[{\"content\": \"zqxchunk\", \"heading\": \"zqxheading\", \"start_line\": 1}]', 'zqxsource', 'zqxtitle', p_metadata => '{\"zqxkey\": 1}')",
		"put_source_allowlist($1, $2, '{zqxsource}')",
		"record_experience($1, $2, 'zqxtask', 3, 1, p_insight => 'zqxinsight', p_trajectory => '[\"zqxstep\"]')",
		"record_experience($1, $2, 'zqxskipped', 1)",
		"record_lesson($1, $2, 'zqxrule', 'zqxdomain')",
		"save_memory($1, $2, 'zqxsaved')",
		"store_put($1, $2, '{zqxspace}', 'zqxkey', '{\"text\": \"zqxitem\"}')",
		"update_knowledge_base($1, $2, 'zqxcategory', 'zqxtitle', 'zqxnote')",
		"user_state_merge($1, $2, '{\"zqxkey\": \"zqxvalue\"}')",
	} {
		if strings.HasPrefix(call, "graph_add") {
			b.exec(t, `SELECT hippocampus.graph_create_entities($1, $2, '[{"name": "zqxname", "entityType": "zqxtype", "observations": ["zqxseen"]}]')`, b.UserID, b.AppName)
		}
		b.exec(t, "SELECT hippocampus."+call, b.UserID, b.AppName)
	}
	b.exec(t, `SELECT hippocampus.promote_experience($1, $2, e.memory_id) FROM hippocampus.experiences e WHERE e.user_id = $1 AND e.app_name = $2`, b.UserID, b.AppName)
	b.exec(t, "SELECT hippocampus.record_access($1, $2, ARRAY(SELECT e.id FROM hippocampus.events e WHERE e.user_id = $1))", b.UserID, b.AppName)
	b.exec(t, "INSERT INTO hippocampus.forgotten_events (thread_id, sequence_num, user_id, app_name) VALUES ($3, 1, $1, $2)", b.UserID, b.AppName, thread)
	b.exec(t, "SELECT hippocampus._fold_terms($1, $2, 'memory', 1)", b.UserID, b.AppName)
	b.exec(t, "INSERT INTO hippocampus.unindexed_rows (id, row_id, user_id, app_name) SELECT r.id, r.row_id, r.user_id, r.app_name FROM hippocampus.row_terms r WHERE r.user_id = $1", b.UserID)
	// All tables that name a user hold one of this user's, but those that only a worker fills.
	empty := []string{}
	for _, table := range list[string](t, b, `SELECT c.relname::text FROM pg_catalog.pg_class c
		WHERE c.relnamespace = 'hippocampus'::regnamespace AND c.relkind = 'r' AND 2 = (
			SELECT count(*) FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attname IN ('user_id', 'app_name') AND NOT a.attisdropped)
		ORDER BY 1`) {
		if get[int](t, b, "SELECT count(*) FROM hippocampus."+table+" WHERE user_id = $1", b.UserID) == 0 {
			empty = append(empty, table)
		}
	}
	require.Equal(t, []string{"anchor_chunks", "anchors", "untidied_memories", "vector_indexes"}, empty)

	b.exec(t, "SELECT hippocampus.forget_user($1, $2)", b.UserID, b.AppName)
	require.Empty(t, b.holders(t, "zqx"))
	require.Empty(t, b.holders(t, b.UserID))
	for _, id := range []uuid.UUID{one, two, named, thread} {
		require.Empty(t, b.holders(t, id.String()))
	}
}
