package function_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

type recollection struct {
	Tier, Content, Category string
	Score, Importance       float64
	ID                      uuid.UUID
	AccessCount             int
	SharedBy                *string
}

// recall gives what is recalled, with further arguments in SQL.
func (b *testBundle) recall(t *testing.T, arguments string) []recollection {
	t.Helper()
	return rowsOf[recollection](t, b, "SELECT tier, content, category, score, importance, id, access_count, shared_by FROM hippocampus.recall($1, $2, p_now => $3"+arguments+")", b.UserID, b.AppName, b.now)
}

func contents(found []recollection) []string {
	all := []string{}
	for _, r := range found {
		all = append(all, r.Tier+" "+r.Content)
	}
	return all
}

func TestRecall(t *testing.T) { //nolint:tparallel // its subtests share a transaction
	t.Parallel()
	b := setup(t)
	thread := b.thread(t)
	event := func(text, category string, importance float64, tags, metadata string, at time.Duration) uuid.UUID {
		return get[uuid.UUID](t, b, `SELECT (hippocampus.append_event($1, 'user', 'message', to_jsonb($2::text), p_category => $3, p_importance => $4,
			p_tags => $5, p_metadata => $6, p_created_at => $7)).id`, thread, text, category, importance, tags, metadata, b.now.Add(at))
	}
	memory := func(text, category string, importance float64, tags, metadata string, at time.Duration, seq any) uuid.UUID {
		return get[uuid.UUID](t, b, `SELECT hippocampus.remember($1, $2, $3, 'episodic', $4, $5, $6, $7, p_occurred_from => $8,
			p_thread_id => CASE WHEN $9::bigint IS NOT NULL THEN $10::uuid END, p_from_seq => $9, p_now => $11)`,
			b.UserID, b.AppName, text, category, importance, tags, metadata, b.now.Add(at), seq, thread, b.now)
	}
	event("the disk is full", "error", 0.9, "{ops}", `{"room": "1"}`, -50*time.Minute)
	event("lunch?", "chat", 0.4, "{}", `{"room": "2"}`, -40*time.Minute)
	event("old gossip", "chat", 0.4, "{}", `{}`, -90*time.Minute)
	full := memory("user: the disk is full", "error", 0.9, "{ops}", `{"room": "1"}`, -50*time.Minute, 1)
	memory("我们决定用 Postgres", "decision", 0.8, "{db,决定}", `{"room": "1", "task": 7}`, -48*time.Hour, nil)
	chat := memory("she likes tea", "chat", 0.6, "{tea}", `{"room": "2", "long": ["x"]}`, -72*time.Hour, nil)

	t.Run("MergesTiersAndCountsAnEventOnce", func(t *testing.T) {
		require.Equal(t, []string{"short lunch?", "long user: the disk is full", "long 我们决定用 Postgres", "long she likes tea"}, contents(b.recall(t, "")))
	})

	t.Run("Filters", func(t *testing.T) {
		require.Equal(t, []string{"long 我们决定用 Postgres"}, contents(b.recall(t, ", p_types => '{decision}'")))
		require.Equal(t, []string{"long 我们决定用 Postgres"}, contents(b.recall(t, ", p_tags => '{决定,db}'")))
		require.Empty(t, b.recall(t, ", p_tags => '{tea,db}'"))
		require.Equal(t, []string{"long user: the disk is full", "long 我们决定用 Postgres"}, contents(b.recall(t, ", p_min_importance => 0.8")))
		require.Equal(t, []string{"short lunch?", "long user: the disk is full"}, contents(b.recall(t, ", p_since => '"+b.now.Add(-time.Hour).Format(time.RFC3339)+"'")))
		require.Equal(t, []string{"short lunch?"}, contents(b.recall(t, ", p_limit => 1")))
		require.Empty(t, b.recall(t, ", p_limit => 0"))
		require.Equal(t, []string{"short lunch?", "long user: the disk is full"}, contents(b.recall(t, ", p_thread_id => '"+thread.String()+"'")))
	})

	t.Run("OfOneTimeTheSameWhateverThePlan", func(t *testing.T) {
		b := setup(t)
		b.exec(t, `SELECT hippocampus.remember($1, $2, 'memory ' || n, p_tags => '{same}', p_now => $3) FROM generate_series(1, 30) n`, b.UserID, b.AppName, b.now)
		for _, named := range []string{", p_limit => 5", ", p_tags => '{same}', p_limit => 5"} {
			first := contents(b.recall(t, named))
			require.Len(t, first, 5)
			b.exec(t, "SET LOCAL enable_indexscan = off")
			b.exec(t, "SET LOCAL enable_bitmapscan = off")
			require.Equal(t, first, contents(b.recall(t, named)))
			b.exec(t, "SET LOCAL enable_indexscan = on")
			b.exec(t, "SET LOCAL enable_bitmapscan = on")
		}
	})

	t.Run("OfOneTimeTheLatestInTheLog", func(t *testing.T) {
		b := setup(t)
		thread := b.thread(t)
		b.exec(t, `SELECT hippocampus.remember($1, $2, 'turn ' || n, 'episodic', p_tags => '{turn}', p_thread_id => $3, p_from_seq => n, p_now => $4)
			FROM generate_series(1, 12) n`, b.UserID, b.AppName, thread, b.now)
		for _, named := range []string{", p_limit => 3", ", p_tags => '{turn}', p_limit => 3"} {
			require.Equal(t, []string{"long turn 12", "long turn 11", "long turn 10"}, contents(b.recall(t, named)), named)
		}
		require.Equal(t, []string{"turn 12", "turn 11", "turn 10"}, list[string](t, b,
			"SELECT content FROM hippocampus.memories_in_time_slice($1, $2, $3, NULL, 3, 'episodic')", b.UserID, b.AppName, b.now))
	})

	t.Run("ByContext", func(t *testing.T) {
		related := func(context string) []string {
			return contents(rowsOf[recollection](t, b, "SELECT tier, content, category, score, importance, id, access_count, shared_by FROM hippocampus.recall_related($1, $2, $3, p_now => $4)", b.UserID, b.AppName, context, b.now))
		}
		require.Equal(t, []string{"long user: the disk is full", "long 我们决定用 Postgres"}, related(`{"room": "1"}`))
		require.Equal(t, []string{"long 我们决定用 Postgres"}, related(`{"room": "1", "task": 7}`))
		require.Empty(t, related(`{"task": "7"}`), "a text is no number")
		require.Equal(t, []string{"long 我们决定用 Postgres"}, related(`{"task": 7.00}`), "a number has many spellings")
		memory("half past", "task", 0.7, "{}", `{"hour": 4.50, "zero": -0.0, "huge": 1e200}`, -96*time.Hour, nil)
		for _, same := range []string{`{"hour": 4.5}`, `{"hour": 45e-1}`, `{"zero": 0}`, `{"huge": 10e199}`, `{"hour": 4.500, "zero": 0.00}`} {
			require.Equal(t, []string{"long half past"}, related(same), same)
		}
		require.Equal(t, []string{"short lunch?", "long she likes tea"}, related(`{"room": "2"}`))
	})

	t.Run("LabelsFollowTheirMemory", func(t *testing.T) {
		b.exec(t, "UPDATE hippocampus.memories SET tags = '{coffee}', metadata = '{\"room\": \"3\"}' WHERE id = $1", chat)
		require.Equal(t, []string{"#coffee", "room=3"}, list[string](t, b, "SELECT label FROM hippocampus.memory_labels WHERE memory_id = $1 ORDER BY 1", chat))
		require.Empty(t, b.recall(t, ", p_tags => '{tea}'"))
		require.Len(t, b.recall(t, ", p_tags => '{coffee}'"), 1)
	})

	t.Run("UseRaisesImportanceWithinBounds", func(t *testing.T) {
		require.Empty(t, b.recall(t, ", p_tags => '{coffee}', p_min_importance => 0.61"))
		for range 3 {
			b.exec(t, "SELECT hippocampus.record_access($1, $2, ARRAY(SELECT r.id FROM hippocampus.recall($1, $2, p_tags => '{coffee}') r))", b.UserID, b.AppName)
		}
		found := b.recall(t, ", p_tags => '{coffee}', p_min_importance => 0.61")
		require.Len(t, found, 1)
		require.Equal(t, 3, found[0].AccessCount)
		require.InDelta(t, 0.6693, found[0].Importance, 1e-4) // 0.6 + 0.05 · ln 4
		b.exec(t, "UPDATE hippocampus.memories SET access_count = 1000000 WHERE id = $1", chat)
		require.InDelta(t, 0.8, b.recall(t, ", p_tags => '{coffee}'")[0].Importance, 1e-9)
		require.Zero(t, get[int](t, b, "SELECT access_count FROM hippocampus.memories WHERE id = $1", full), "what was not asked for is not used")
	})

	t.Run("Similar", func(t *testing.T) {
		similar := func(query string) []string {
			return contents(rowsOf[recollection](t, b, "SELECT tier, content, category, score, importance, id, access_count, shared_by FROM hippocampus.recall_similar($1, $2, $3, p_limit => 2, p_now => $4)", b.UserID, b.AppName, query, b.now))
		}
		require.Equal(t, "long user: the disk is full", similar("a full disk")[0])
		require.Equal(t, "short lunch?", similar("lunch")[0])
		require.Equal(t, "long 我们决定用 Postgres", similar("决定")[0])
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		b.refuses(t, "HC009", "p_types", "SELECT hippocampus.recall('u', 'a', '{gossip}')")
		b.refuses(t, "HC009", "p_min_importance is 2", "SELECT hippocampus.recall('u', 'a', p_min_importance => 2)")
		b.refuses(t, "HC009", "p_limit is -1", "SELECT hippocampus.recall('u', 'a', p_limit => -1)")
		b.refuses(t, "HC009", "p_context is {}", "SELECT hippocampus.recall_related('u', 'a', '{}')")
		b.refuses(t, "HC009", "p_context is a JSON array", "SELECT hippocampus.recall_related('u', 'a', '[]')")
		b.refuses(t, "HC001", "p_user_id is empty", "SELECT hippocampus.recall_similar('', 'a', 'x')")
	})

	t.Run("WhatIsForgottenIsGone", func(t *testing.T) {
		b.exec(t, "SELECT hippocampus.forget($1, $2, $3)", b.UserID, b.AppName, []uuid.UUID{chat})
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.memory_labels WHERE memory_id = $1", chat))
	})
}

func TestShareMemory(t *testing.T) { //nolint:tparallel // its subtests share a transaction
	t.Parallel()
	b := setup(t)
	id := get[uuid.UUID](t, b, `SELECT hippocampus.remember($1, $2, '堆叠的快照恢复得最快 snapshots', 'semantic', 'insight', 0.9, '{ops}', '{"room": "secret"}', p_now => $3)`,
		b.UserID, b.AppName, b.now)
	const share = "SELECT hippocampus.share_memory($1, $2, $3, p_shared_by => $4)"
	others := func(t *testing.T) []recollection {
		t.Helper()
		return rowsOf[recollection](t, b, "SELECT tier, content, category, score, importance, id, access_count, shared_by FROM hippocampus.recall('somebody', $1, p_include_shared => true, p_now => $2)", b.AppName, b.now)
	}

	t.Run("IsOffByDefault", func(t *testing.T) {
		b.refuses(t, "HC009", "are not shared", share, b.UserID, b.AppName, id, nil)
		b.refuses(t, "HC009", "are not shared", "UPDATE hippocampus.memories SET visibility = 'app' WHERE id = $1", id)
		b.policy(t, `{"sharing": true}`)
	})

	t.Run("ShowsTheMemoryWithItsAttributionAlone", func(t *testing.T) {
		b.exec(t, share, b.UserID, b.AppName, id, "Ops")
		found := others(t)
		require.Equal(t, []string{"shared 堆叠的快照恢复得最快 snapshots"}, contents(found))
		require.Equal(t, "Ops", *found[0].SharedBy)
		require.Empty(t, rowsOf[recollection](t, b, "SELECT tier, content, category, score, importance, id, access_count, shared_by FROM hippocampus.recall('somebody', $1, p_now => $2)", b.AppName, b.now), "only for who asks")
		require.NotContains(t, get[string](t, b, "SELECT s::text FROM hippocampus.shared_memories s WHERE memory_id = $1", id), "secret")
		require.Equal(t, []string{"long 堆叠的快照恢复得最快 snapshots"}, contents(b.recall(t, ", p_include_shared => true")), "one's own is not shared with oneself")
	})

	t.Run("IsFoundByWordsAndMeaning", func(t *testing.T) {
		similar := func(query string, vector any) []recollection {
			return rowsOf[recollection](t, b, `SELECT tier, content, category, score, importance, id, access_count, shared_by FROM hippocampus.recall_similar('somebody', $1, $2, $3::text::public.vector, p_include_shared => true, p_now => $4)`,
				b.AppName, query, vector, b.now)
		}
		require.Len(t, similar("快照", nil), 1)
		require.Len(t, similar("snapshot", nil), 1)
		require.Empty(t, similar("tea", nil))
		byWords := similar("snapshot", nil)[0].Score
		b.exec(t, `SELECT hippocampus.put_embedding($1, $2, 'memory', $3, array_fill(0.1, ARRAY[64])::public.vector)`, b.UserID, b.AppName, id)
		require.Equal(t, 1, get[int](t, b, "SELECT hippocampus.refresh_shared_memories()"))
		require.Zero(t, get[int](t, b, "SELECT hippocampus.refresh_shared_memories()"))
		near := get[string](t, b, "SELECT array_fill(0.1, ARRAY[64])::public.vector::text")
		require.Len(t, similar("tea", near), 1)
		require.InDelta(t, byWords, similar("snapshot", nil)[0].Score, 1e-9, "the question has none")
	})

	t.Run("NotWhatWasMadeOfOthers", func(t *testing.T) {
		summary := get[uuid.UUID](t, b, "SELECT hippocampus.remember($1, $2, 'a summary', 'summary')", b.UserID, b.AppName)
		b.refuses(t, "HC009", "was made of other memories", share, b.UserID, b.AppName, summary, nil)
		b.refuses(t, "HC011", "is unknown", share, b.UserID+"x", b.AppName, id, nil)
	})

	t.Run("IsTakenBack", func(t *testing.T) {
		const unshare = "SELECT hippocampus.unshare_memory($1, $2, $3)"
		require.False(t, get[bool](t, b, unshare, "somebody", b.AppName, id))
		require.True(t, get[bool](t, b, unshare, b.UserID, b.AppName, id))
		require.Empty(t, others(t))
		require.False(t, get[bool](t, b, unshare, b.UserID, b.AppName, id))
		b.exec(t, share, b.UserID, b.AppName, id, nil)
		require.Len(t, others(t), 1)
		b.policy(t, `{"sharing": false}`)
		require.Empty(t, others(t), "the app no longer allows it")
		require.Equal(t, "private", get[string](t, b, "SELECT visibility FROM hippocampus.memories WHERE id = $1", id))
	})

	t.Run("GoesWithItsMemory", func(t *testing.T) {
		b.policy(t, `{"sharing": true}`)
		b.exec(t, share, b.UserID, b.AppName, id, nil)
		b.exec(t, "SELECT hippocampus.forget($1, $2, $3)", b.UserID, b.AppName, []uuid.UUID{id})
		require.Empty(t, others(t))
	})
}

func TestEventUses(t *testing.T) { //nolint:tparallel // its subtests share a transaction
	t.Parallel()
	b := setup(t)
	thread := b.thread(t)
	id := get[uuid.UUID](t, b, `SELECT (hippocampus.append_event($1, 'user', 'message', '"the spare key hangs in the shed"', p_importance => 0.58,
		p_created_at => $2)).id`, thread, b.now)
	use := func(t *testing.T) int {
		t.Helper()
		return get[int](t, b, "SELECT hippocampus.record_access($1, $2, ARRAY[$3::uuid], $4)", b.UserID, b.AppName, id, b.now)
	}

	t.Run("RaiseImportanceWithinBounds", func(t *testing.T) {
		require.Empty(t, b.recall(t, ", p_min_importance => 0.6"))
		for range 3 {
			require.Equal(t, 1, use(t))
		}
		found := b.recall(t, ", p_min_importance => 0.6")
		require.Equal(t, []string{"short the spare key hangs in the shed"}, contents(found))
		require.Equal(t, 3, found[0].AccessCount)
		require.InDelta(t, 0.6493, found[0].Importance, 1e-4) // 0.58 + 0.05 · ln 4
		b.exec(t, "UPDATE hippocampus.event_uses SET access_count = 1000000 WHERE thread_id = $1", thread)
		require.InDelta(t, 0.78, b.recall(t, "")[0].Importance, 1e-6)
		b.exec(t, "UPDATE hippocampus.event_uses SET access_count = 3 WHERE thread_id = $1", thread)
		require.Zero(t, get[int](t, b, "SELECT hippocampus.record_access($1 || 'x', $2, ARRAY[$3::uuid])", b.UserID, b.AppName, id), "another's")
	})

	t.Run("GoOverToTheEpisode", func(t *testing.T) {
		b.exec(t, "SELECT hippocampus.remember_events($1, $2, $3)", b.UserID, b.AppName, thread)
		found := b.recall(t, "")
		require.Equal(t, []string{"long user: the spare key hangs in the shed"}, contents(found))
		require.Equal(t, 3, found[0].AccessCount)
		require.InDelta(t, 0.6493, found[0].Importance, 1e-4, "raised once, not twice")
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.event_uses WHERE thread_id = $1", thread))
		require.InDelta(t, 0.4773, get[float64](t, b, "SELECT retention_score FROM hippocampus.memories WHERE user_id = $1", b.UserID), 1e-3) // (1 + ln 4) / 5
	})
}

// A client's episode of a passage, and another of one of its turns: each event counts once, wherever the last one began.
func TestEpisodesThatOverlap(t *testing.T) {
	t.Parallel()
	b := setup(t)
	thread := b.thread(t)
	var ids []uuid.UUID
	for i, text := range []string{"one", "two", "three", "four", "five"} {
		ids = append(ids, b.say(t, thread, text, time.Duration(i-10)*time.Minute))
	}
	b.exec(t, "SELECT hippocampus.record_access($1, $2, $3, $4)", b.UserID, b.AppName, ids[2:3], b.now)
	episode := func(content string, from, to int) uuid.UUID {
		return b.rememberWith(t, content, "p_memory_type => 'episodic', p_thread_id => $5, p_from_seq => $6, p_to_seq => $7, p_occurred_from => $4", thread, from, to)
	}
	passage, turn := episode("one to four", 1, 4), episode("two", 2, 2)
	require.ElementsMatch(t, []string{"long one to four", "long two", "short five"}, contents(b.recall(t, "")))
	for seq, want := range [][]uuid.UUID{{passage}, {turn}, {passage}, {passage}, nil} {
		require.ElementsMatch(t, want, list[uuid.UUID](t, b, "SELECT hippocampus._episode_at($1, $2, $3, $4)", b.UserID, b.AppName, thread, seq+1), seq+1)
	}
	require.Equal(t, 1, get[int](t, b, "SELECT hippocampus._adopt_uses($1, $2, $3, $4)", b.UserID, b.AppName, thread, b.now))
	require.Equal(t, 1, get[int](t, b, "SELECT access_count FROM hippocampus.memories WHERE id = $1", passage))
	require.Zero(t, get[int](t, b, "SELECT access_count FROM hippocampus.memories WHERE id = $1", turn))
	// Counts end where a number does.
	b.exec(t, "UPDATE hippocampus.memories SET access_count = 2147483647 WHERE id = $1", passage)
	for range 2 {
		b.exec(t, "SELECT hippocampus.record_access($1, $2, $3, $4)", b.UserID, b.AppName, ids[2:3], b.now)
		b.exec(t, "UPDATE hippocampus.event_uses SET access_count = 2147483647 WHERE user_id = $1", b.UserID)
	}
	require.Equal(t, 1, get[int](t, b, "SELECT hippocampus._adopt_uses($1, $2, $3, $4)", b.UserID, b.AppName, thread, b.now))
	require.Equal(t, 2147483647, get[int](t, b, "SELECT access_count FROM hippocampus.memories WHERE id = $1", passage))
}
