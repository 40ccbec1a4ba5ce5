package function_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
)

func TestRemember(t *testing.T) {
	t.Parallel()
	row := func(t *testing.T, b *testBundle, id uuid.UUID) db.Memory {
		t.Helper()
		return rowOf[db.Memory](t, b, "SELECT * FROM hippocampus.memories WHERE id = $1", id)
	}

	t.Run("Defaults", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		m := row(t, b, b.remember(t, "I like tea"))
		require.Equal(t, "semantic", m.MemoryType)
		require.Equal(t, "other", m.Category)
		require.Equal(t, "client", m.Source)
		require.Equal(t, "private", m.Visibility)
		require.InDelta(t, 0.5, m.Importance, 1e-6)
		require.InDelta(t, 0.2, m.RetentionScore, 1e-6)
		require.InDelta(t, 0.5, m.RunningIntensity, 1e-6)
		require.Equal(t, int32(1), m.EncounterCount)
		require.Zero(t, m.AccessCount)
		for _, at := range []time.Time{m.CreatedAt, m.LastAccessedAt, m.OccurredFrom, m.OccurredUntil} {
			require.True(t, b.now.Equal(at))
		}
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.embedding_queue WHERE row_id = $1", m.ID))
	})

	t.Run("EpisodesOfOtherEventsAreOthers", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		one, two := b.thread(t), b.thread(t)
		episode := func(thread any, from any) uuid.UUID {
			return b.rememberWith(t, "Good morning!", "p_memory_type => 'episodic', p_thread_id => $5, p_from_seq => $6", thread, from)
		}
		first := episode(one, 1)
		require.Equal(t, first, episode(one, 1)) // the consolidation that is tried again
		others := []uuid.UUID{episode(one, 3), episode(two, 1), episode(nil, nil)}
		require.NotContains(t, others, first)
		require.Equal(t, 4, get[int](t, b, "SELECT count(*) FROM hippocampus.memories WHERE user_id = $1", b.UserID))
	})

	t.Run("IntensityIsTheRunningMean", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		var id uuid.UUID
		for _, intensity := range []float64{0.9, 0.3, 0.6} {
			id = b.rememberWith(t, "I like tea", "p_intensity => $5", intensity)
		}
		m := row(t, b, id)
		require.InDelta(t, 0.6, m.RunningIntensity, 1e-6)
		require.Equal(t, int32(3), m.EncounterCount)
	})

	t.Run("MergesWhatComesAlong", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := b.rememberWith(t, "I like tea", `p_tags => '{b,a}', p_metadata => '{"x": 1, "y": 1}', p_importance => 0.9`)
		b.now = b.now.Add(day)
		again := b.rememberWith(t, "I like tea", `p_tags => '{c,a}', p_metadata => '{"y": 2}', p_importance => 0.1`)
		require.Equal(t, id, again)
		m := row(t, b, id)
		require.Equal(t, []string{"a", "b", "c"}, m.Tags)
		require.JSONEq(t, `{"x": 1, "y": 2}`, string(m.Metadata))
		require.InDelta(t, 0.9, m.Importance, 1e-6)
		require.True(t, b.now.Equal(m.LastAccessedAt))
		require.True(t, b.now.Add(-day).Equal(m.CreatedAt))
	})

	t.Run("OriginStays", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		one, two := b.thread(t), get[uuid.UUID](t, b, "SELECT hippocampus.create_thread($1, $2, 'two')", b.UserID, b.AppName)
		id := b.rememberWith(t, "tea", "p_thread_id => $5, p_from_seq => 1, p_memory_type => 'episodic'", one)
		for _, set := range []string{
			"memory_type = 'summary'", "occurred_from = now()", "from_seq = 2", "content = 'milk'", "thread_id = '" + two.String() + "'",
		} {
			b.refuses(t, "HC009", "cannot change", "UPDATE hippocampus.memories SET "+set+" WHERE id = $1", id)
		}
		b.exec(t, "UPDATE hippocampus.memories SET thread_id = thread_id WHERE id = $1", id)
		b.exec(t, "UPDATE hippocampus.memories SET thread_id = NULL WHERE id = $1", id)
	})

	t.Run("OtherTypeOrTenantIsAnother", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ids := map[uuid.UUID]bool{
			b.remember(t, "tea"): true,
			b.rememberWith(t, "tea", "p_memory_type => 'episodic'"):                                     true,
			b.rememberWith(t, "tea", "p_memory_type => 'summary'"):                                      true,
			get[uuid.UUID](t, b, "SELECT hippocampus.remember($1, $2, 'tea')", b.UserID+"x", b.AppName): true,
			get[uuid.UUID](t, b, "SELECT hippocampus.remember($1, $2, 'tea')", b.UserID, b.AppName+"x"): true,
		}
		require.Len(t, ids, 5)
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		full := make([]string, 64)
		for i := range full {
			full[i] = fmt.Sprintf("tag%d", i)
		}
		b.rememberWith(t, "full", "p_tags => $5, p_metadata => jsonb_build_object('x', repeat('x', 200000))", full)
		thread := b.thread(t)
		before := b.counts(t)
		for _, c := range []struct{ code, message, content, named string }{
			{"HC001", "p_user_id is null", "'x'", "p_user_id => NULL"},
			{"HC001", "p_app_name is reserved: *", "'x'", "p_app_name => '*'"},
			{"HC002", "thread 00000000-0000-0000-0000-000000000001 is unknown", "'x'", "p_thread_id => '00000000-0000-0000-0000-000000000001'"},
			{"HC004", "p_embedding has 1 dimensions, this deployment 64", "'x'", "p_embedding => '[1]'"},
			{"HC005", "p_embedding has length 0", "'x'", "p_embedding => array_fill(0::real, ARRAY[64])::public.vector"},
			{"HC006", "p_content is 10485760 bytes long", "repeat('x', 10485760)", ""}, // 10 MB
			{"HC006", "p_content is 1048578 bytes long", "repeat('é', 524289)", ""},
			{"HC006", "p_metadata is ", "'x'", "p_metadata => jsonb_build_object('x', repeat('x', 262144))"},
			{"HC006", "p_metadata, with that of the memory that is there,", "'full'", "p_metadata => jsonb_build_object('y', repeat('x', 200000))"},
			{"HC006", "p_author is 256 bytes long", "'x'", "p_author => repeat('x', 256)"},
			{"HC006", "p_source is 256 bytes long", "'x'", "p_source => repeat('x', 256)"},
			{"HC009", "p_author is empty", "'x'", "p_author => ''"},
			{"HC009", "p_category is 'gossip'", "'x'", "p_category => 'gossip'"},
			{"HC009", "p_category is null", "'x'", "p_category => NULL"},
			{"HC009", "p_content is empty", "''", ""},
			{"HC009", "p_content is null", "NULL", ""},
			{"HC009", "p_from_seq is 0", "'x'", "p_from_seq => 0"},
			{"HC009", "p_from_seq is 3 and p_to_seq is 2", "'x'", "p_from_seq => 3, p_to_seq => 2"},
			{"HC009", "p_from_seq is null and p_to_seq is 2", "'x'", "p_to_seq => 2"},
			{"HC009", "p_importance is 2", "'x'", "p_importance => 2"},
			{"HC009", "p_importance is NaN", "'x'", "p_importance => 'NaN'"},
			{"HC009", "p_initial_score is -1", "'x'", "p_initial_score => -1"},
			{"HC009", "p_intensity is 1.1", "'x'", "p_intensity => 1.1"},
			{"HC009", "p_intensity is null", "'x'", "p_intensity => NULL"},
			{"HC009", "p_memory_type is 'dream'", "'x'", "p_memory_type => 'dream'"},
			{"HC009", "p_metadata is a JSON array", "'x'", "p_metadata => '[]'"},
			{"HC009", "p_metadata is a JSON null", "'x'", "p_metadata => 'null'"},
			{"HC009", "p_occurred_from is 2026-01-02", "'x'", "p_occurred_from => '2026-01-02', p_occurred_until => '2026-01-01'"},
			{"HC009", "p_occurred_from is -infinity", "'x'", "p_occurred_from => '-infinity'"},
			{"HC009", "p_source is null", "'x'", "p_source => NULL"},
			{"HC009", "p_tags has 65 tags", "'x'", "p_tags => array_fill('x'::text, ARRAY[65])"},
			{"HC009", "p_tags has a tag that is 256 bytes long", "'x'", "p_tags => ARRAY[repeat('x', 256)]"},
			{"HC009", "p_tags has a tag that is empty", "'x'", "p_tags => ARRAY['']"},
			{"HC009", "p_tags has a tag that is null", "'x'", "p_tags => ARRAY[NULL]"},
			{"HC009", "p_tags, with those of the memory that is there, has 65 tags", "'full'", "p_tags => ARRAY['one more']"},
			{"HC009", "p_token_count is -1", "'x'", "p_token_count => -1"},
		} {
			args := map[string]string{"p_user_id": "'u'", "p_app_name": "'a'", "p_content": c.content}
			if c.content == "'full'" {
				args["p_user_id"], args["p_app_name"] = "'"+b.UserID+"'", "'"+b.AppName+"'"
			}
			for named := range strings.SplitSeq(c.named, ", p_") {
				if name, value, ok := strings.Cut(named, " => "); ok {
					args["p_"+strings.TrimPrefix(name, "p_")] = value
				}
			}
			named := []string{}
			for name, value := range args {
				named = append(named, name+" => "+value)
			}
			b.refuses(t, c.code, c.message, "SELECT hippocampus.remember("+strings.Join(named, ", ")+")")
		}
		// Of another tenant, a thread is unknown too.
		b.refuses(t, "HC002", thread.String(), "SELECT hippocampus.remember('u', 'a', 'x', p_thread_id => $1)", thread)
		// What no vector may hold, pgvector refuses itself.
		b.refuses(t, "22000", "NaN", "SELECT hippocampus.remember('u', 'a', 'x', p_embedding => array_fill('NaN'::real, ARRAY[64])::public.vector)")
		b.refuses(t, "22000", "infinite", "SELECT hippocampus.remember('u', 'a', 'x', p_embedding => array_fill('Infinity'::real, ARRAY[64])::public.vector)")
		require.Equal(t, before, b.counts(t))
	})

	t.Run("SameWordsAreOneMemory", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, group := range [][]string{
			{"I like tea", "i LIKE tea", "  I like\t\n tea  ", "I\u00a0like\u3000tea", "Ｉ ｌｉｋｅ ｔｅａ"},
			{"Café", "Cafe\u0301", "CAFÉ"},
			{"ﬁsh ①", "fish 1"},
			{"カナ", "ｶﾅ"},
			{"МОСКВА", "москва"},
		} {
			id := b.remember(t, group[0])
			for i, text := range group[1:] {
				require.Equal(t, id, b.remember(t, text), text)
				require.Equal(t, int32(i+2), b.memory(t, id).EncounterCount)
			}
		}
		require.NotEqual(t, b.remember(t, "I like tea"), b.remember(t, "I like tea."))
		require.NotEqual(t, b.remember(t, "Café"), b.remember(t, "Cafe"))
		require.NotEqual(t, b.remember(t, "a b"), b.remember(t, "ab"))
	})

	t.Run("SupersededAreListedWhenAskedFor", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := b.remember(t, "tea")
		b.exec(t, "UPDATE hippocampus.memories SET superseded_by = $2 WHERE id = $1", id, b.remember(t, "coffee"))
		for _, sql := range []string{
			"SELECT count(*) FROM hippocampus.list_memories($1, $2, p_include_superseded => $3)",
			"SELECT count(*) FROM hippocampus.memories_in_time_slice($1, $2, NULL, NULL, p_include_superseded => $3)",
		} {
			require.Equal(t, 1, get[int](t, b, sql, b.UserID, b.AppName, false))
			require.Equal(t, 2, get[int](t, b, sql, b.UserID, b.AppName, true))
		}
	})

	t.Run("SupersededWordsMayBeTrueAgain", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		old := b.remember(t, "I live in Berlin")
		b.exec(t, "UPDATE hippocampus.memories SET superseded_by = $2 WHERE id = $1", old, b.remember(t, "I live in Paris"))
		again := b.remember(t, "I live in Berlin")
		require.NotEqual(t, old, again)
		require.Equal(t, again, b.remember(t, "I live in Berlin"))
	})

	t.Run("ToldByOtherThreadsBelongsToNone", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		one := b.thread(t)
		id := b.rememberWith(t, "tea", "p_thread_id => $5", one)
		b.rememberWith(t, "tea", "p_thread_id => $5", one)
		require.Equal(t, &one, row(t, b, id).ThreadID)
		b.rememberWith(t, "tea", "p_thread_id => $5", b.thread(t))
		require.Nil(t, row(t, b, id).ThreadID)
		b.rememberWith(t, "tea", "p_thread_id => $5", one)
		require.Nil(t, row(t, b, id).ThreadID)
	})

	t.Run("VectorComesAlong", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		vectors := func() []uuid.UUID {
			return list[uuid.UUID](t, b, "SELECT row_id FROM hippocampus.embeddings WHERE user_id = $1 ORDER BY 1", b.UserID)
		}
		queued := func() []uuid.UUID {
			return list[uuid.UUID](t, b, "SELECT row_id FROM hippocampus.embedding_queue WHERE user_id = $1", b.UserID)
		}
		id := b.rememberWith(t, "with", "p_embedding => $5", vector(3, 4))
		require.Equal(t, []uuid.UUID{id}, vectors())
		require.Empty(t, queued())
		// Again, with another one: the vector is the memory's, and no other is left.
		require.Equal(t, id, b.rememberWith(t, "WITH", "p_embedding => $5", vector(0, 1)))
		require.Equal(t, []uuid.UUID{id}, vectors())
		// A memory that waited for its vector gets it.
		waiting := b.remember(t, "without")
		require.Equal(t, []uuid.UUID{waiting}, queued())
		require.Equal(t, waiting, b.rememberWith(t, "without", "p_embedding => $5", vector(0, 1)))
		require.ElementsMatch(t, []uuid.UUID{id, waiting}, vectors())
		require.Empty(t, queued())
	})
}

func TestPutEmbedding(t *testing.T) {
	t.Parallel()
	const put = "SELECT hippocampus.put_embedding($1, $2, $3, $4, $5, $6)"

	t.Run("BringsAnyLengthToOne", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, scale := range []float32{1e-20, 1, 1e18} {
			id := b.remember(t, fmt.Sprint(scale))
			b.exec(t, put, b.UserID, b.AppName, "memory", id, vector(3*scale, 4*scale), nil)
			require.InDelta(t, 1, get[float64](t, b, "SELECT public.l2_norm(e.embedding) FROM hippocampus.embeddings e WHERE e.row_id = $1", id), 1e-3)
		}
	})

	t.Run("ForAForgottenRowIsPassedOver", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := b.remember(t, "tea") // its text goes to the model …
		b.exec(t, "SELECT hippocampus.forget($1, $2, $3)", b.UserID, b.AppName, []uuid.UUID{id})
		b.exec(t, put, b.UserID, b.AppName, "memory", id, vector(1), nil) // … and its vector comes back
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.embeddings WHERE user_id = $1", b.UserID))
		b.refuses(t, "HC004", "65 dimensions", "SELECT hippocampus.put_embedding('u', 'a', 'memory', $1, array_fill(1, ARRAY[65])::public.vector)", id)
	})

	t.Run("OfAnotherTenantIsPassedOver", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := b.remember(t, "tea")
		b.exec(t, put, b.UserID+"x", b.AppName, "memory", id, vector(1), nil)
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.embeddings WHERE row_id = $1", id))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := b.remember(t, "tea")
		b.exec(t, "UPDATE hippocampus.embedding_models SET model = 'ours' WHERE status = 'serving'")
		before := b.counts(t)
		b.refuses(t, "HC001", "p_user_id is empty", put, "", b.AppName, "memory", id, vector(1), nil)
		b.refuses(t, "HC004", "p_embedding has 3 dimensions, this deployment 64",
			"SELECT hippocampus.put_embedding($1, $2, 'memory', $3, '[1,2,3]')", b.UserID, b.AppName, id)
		b.refuses(t, "HC005", "p_embedding is null", put, b.UserID, b.AppName, "memory", id, nil, nil)
		b.refuses(t, "HC005", "p_embedding has length 0", put, b.UserID, b.AppName, "memory", id, vector(), nil)
		b.refuses(t, "HC009", "p_source is 'event'", put, b.UserID, b.AppName, "event", id, vector(1), nil)
		hint := b.refuses(t, "HC014", "model 'another', this deployment serves 'ours'", put, b.UserID, b.AppName, "memory", id, vector(1), "another")
		require.NotEmpty(t, hint)
		require.Equal(t, before, b.counts(t))
		b.exec(t, put, b.UserID, b.AppName, "memory", id, vector(1), "ours")
	})

	t.Run("FirstWriterNamesTheModel", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		model := func() *string {
			return get[*string](t, b, "SELECT g.model FROM hippocampus.embedding_models g WHERE g.status = 'serving'")
		}
		b.rememberWith(t, "unnamed", "p_embedding => $5", vector(1))
		require.Nil(t, model())
		b.rememberWith(t, "tea", "p_embedding => $5, p_embedding_model => 'ours'", vector(1))
		require.Equal(t, "ours", *model())
		b.refuses(t, "HC014", "is of model 'theirs', this deployment serves 'ours'",
			"SELECT hippocampus.remember($1, $2, 'milk', p_embedding => $3, p_embedding_model => 'theirs')", b.UserID, b.AppName, vector(1))
		b.rememberWith(t, "milk", "p_embedding => $5", vector(1))
		b.exec(t, "SELECT hippocampus._name_embedding_model('theirs')")
		require.Equal(t, "ours", *model())
	})

	t.Run("TakesTheRowOffTheQueue", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		memory := b.remember(t, "tea")
		fact := get[uuid.UUID](t, b, `SELECT hippocampus.upsert_fact($1, $2, 'custom', 'k', '1')`, b.UserID, b.AppName)
		require.Equal(t, 2, get[int](t, b, "SELECT count(*) FROM hippocampus.embedding_queue WHERE user_id = $1", b.UserID))
		b.exec(t, put, b.UserID, b.AppName, "memory", memory, vector(1), nil)
		b.exec(t, put, b.UserID, b.AppName, "fact", fact, vector(1), nil)
		b.exec(t, put, b.UserID, b.AppName, "fact", fact, vector(2), nil)
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.embedding_queue WHERE user_id = $1", b.UserID))
		require.Equal(t, 2, get[int](t, b, "SELECT count(*) FROM hippocampus.embeddings WHERE user_id = $1", b.UserID))
	})
}

func TestListMemories(t *testing.T) { //nolint:tparallel // its subtests share a transaction
	t.Parallel()
	b := setup(t)
	for i := range 10 {
		b.now = b.now.Add(time.Minute)
		b.rememberWith(t, fmt.Sprintf("memory %d", i), "p_initial_score => $5, p_memory_type => $6", float64(i/2)/5,
			[]string{"semantic", "episodic"}[i%2])
	}
	page := func(t *testing.T, named string) []string {
		t.Helper()
		return list[string](t, b, "SELECT m.content FROM hippocampus.list_memories($1, $2"+named+") m", b.UserID, b.AppName)
	}

	t.Run("BestThenNewest", func(t *testing.T) {
		require.Equal(t, []string{"memory 9", "memory 8", "memory 7"}, page(t, ", p_limit => 3"))
	})

	t.Run("OfOneType", func(t *testing.T) {
		require.Equal(t, []string{"memory 8", "memory 6"}, page(t, ", p_memory_type => 'semantic', p_limit => 2"))
	})

	t.Run("Pages", func(t *testing.T) {
		all := page(t, "")
		require.Len(t, all, 10)
		paged := []string{}
		for i := range 4 {
			paged = append(paged, page(t, fmt.Sprintf(", p_limit => 3, p_offset => %d", 3*i))...)
		}
		require.Equal(t, all, paged)
		require.Empty(t, page(t, ", p_limit => 0"))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		b.refuses(t, "HC001", "p_user_id is null", "SELECT hippocampus.list_memories(NULL, 'a')")
		b.refuses(t, "HC009", "p_limit is -1", "SELECT hippocampus.list_memories('u', 'a', p_limit => -1)")
		b.refuses(t, "HC009", "p_memory_type is 'dream'", "SELECT hippocampus.list_memories('u', 'a', 'dream')")
		b.refuses(t, "HC009", "p_offset is -1", "SELECT hippocampus.list_memories('u', 'a', p_offset => -1)")
	})
}

func TestMemoriesInTimeSlice(t *testing.T) { //nolint:tparallel // its subtests share a transaction
	t.Parallel()
	b := setup(t)
	for i := range 5 {
		b.rememberWith(t, fmt.Sprintf("day %d", i), "p_memory_type => $5, p_occurred_from => $6", []string{"episodic", "semantic"}[i%2],
			b.now.Add(time.Duration(i)*day))
	}
	slice := func(t *testing.T, from, until any, named string) []string {
		t.Helper()
		return list[string](t, b, "SELECT m.content FROM hippocampus.memories_in_time_slice($1, $2, $3, $4"+named+") m",
			b.UserID, b.AppName, from, until)
	}

	t.Run("Inclusive", func(t *testing.T) {
		require.Equal(t, []string{"day 3", "day 2", "day 1"}, slice(t, b.now.Add(day), b.now.Add(3*day), ""))
		require.Equal(t, []string{"day 2"}, slice(t, b.now.Add(2*day), b.now.Add(2*day), ""))
		require.Empty(t, slice(t, b.now.Add(2*day+time.Second), b.now.Add(3*day-time.Second), ""))
	})

	// What lasts is there from its first day to its last.
	t.Run("WhatReachesIn", func(t *testing.T) {
		b := setup(t)
		for content, days := range map[string][2]int{"a week": {0, 7}, "two days": {1, 3}, "a day": {5, 5}, "long ago": {-9, -8}} {
			b.rememberWith(t, content, "p_memory_type => 'episodic', p_occurred_from => $5, p_occurred_until => $6",
				b.now.Add(time.Duration(days[0])*day), b.now.Add(time.Duration(days[1])*day))
		}
		slice := func(from, until any, limit int) []string {
			return list[string](t, b, "SELECT m.content FROM hippocampus.memories_in_time_slice($1, $2, $3, $4, $5) m", b.UserID, b.AppName, from, until, limit)
		}
		require.Equal(t, []string{"a day", "two days", "a week"}, slice(b.now.Add(3*day), b.now.Add(6*day), 9))
		require.Equal(t, []string{"a day", "two days"}, slice(b.now.Add(3*day), b.now.Add(6*day), 2))
		require.Equal(t, []string{"a week"}, slice(b.now.Add(6*day), b.now.Add(6*day), 9))
		require.Equal(t, []string{"a week"}, slice(b.now.Add(7*day), nil, 9))
		require.Empty(t, slice(b.now.Add(7*day+time.Second), nil, 9))
		require.Equal(t, []string{"a week", "long ago"}, slice(nil, b.now, 9))
	})

	t.Run("NewestWithinTheLimit", func(t *testing.T) {
		require.Equal(t, []string{"day 4", "day 3"}, slice(t, b.now, b.now.Add(9*day), ", p_limit => 2"))
		require.Empty(t, slice(t, b.now, b.now.Add(9*day), ", p_limit => 0"))
	})

	t.Run("OfOneType", func(t *testing.T) {
		require.Equal(t, []string{"day 3", "day 1"}, slice(t, b.now, b.now.Add(9*day), ", p_memory_type => 'semantic'"))
	})

	t.Run("OpenEnds", func(t *testing.T) {
		require.Equal(t, []string{"day 4", "day 3"}, slice(t, b.now.Add(3*day), nil, ""))
		require.Equal(t, []string{"day 1", "day 0"}, slice(t, nil, b.now.Add(day), ""))
		require.Len(t, slice(t, nil, nil, ""), 5)
	})

	t.Run("OrderIsDeterministic", func(t *testing.T) {
		tie := setup(t)
		for i := range 20 {
			tie.remember(t, fmt.Sprint(i))
		}
		ids := list[uuid.UUID](t, tie, "SELECT m.id FROM hippocampus.memories m WHERE m.user_id = $1 ORDER BY m.id LIMIT 5", tie.UserID)
		require.Equal(t, ids, list[uuid.UUID](t, tie, "SELECT m.id FROM hippocampus.memories_in_time_slice($1, $2, NULL, NULL, 5) m",
			tie.UserID, tie.AppName))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		b.refuses(t, "HC001", "p_app_name is empty", "SELECT hippocampus.memories_in_time_slice('u', '', NULL, NULL)")
		b.refuses(t, "HC009", "is after p_end", "SELECT hippocampus.memories_in_time_slice('u', 'a', now(), now() - interval '1 s')")
		b.refuses(t, "HC009", "p_memory_type is 'dream'", "SELECT hippocampus.memories_in_time_slice('u', 'a', NULL, NULL, p_memory_type => 'dream')")
		b.refuses(t, "HC009", "p_limit is 10001", "SELECT hippocampus.memories_in_time_slice('u', 'a', NULL, NULL, 10001)")
	})
}
