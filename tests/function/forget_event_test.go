package function_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// said is a conversation that a job has reflected on, without episodes: what is of little importance gets none.
func (b *testBundle) said(t *testing.T, texts ...string) (thread uuid.UUID, events []uuid.UUID) {
	t.Helper()
	thread = b.thread(t)
	for _, text := range texts {
		events = append(events, get[uuid.UUID](t, b, "SELECT id FROM hippocampus.append_event($1, 'user', 'message', jsonb_build_object('text', $2::text))", thread, text))
	}
	return thread, events
}

func (b *testBundle) draw(t *testing.T, id, thread uuid.UUID, from, to int) {
	t.Helper()
	b.exec(t, `INSERT INTO hippocampus.memory_sources (memory_id, fact_id, thread_id, user_id, app_name, from_seq, to_seq)
		SELECT (SELECT m.id FROM hippocampus.memories m WHERE m.id = $1 AND m.user_id = $3), (SELECT f.id FROM hippocampus.facts f WHERE f.id = $1 AND f.user_id = $3), $2, $3, $4, $5, $6`,
		id, thread, b.UserID, b.AppName, from, to)
}

func (b *testBundle) drawnFact(t *testing.T, key, value string, thread uuid.UUID, from, to int) uuid.UUID {
	t.Helper()
	id := get[uuid.UUID](t, b, "SELECT hippocampus.upsert_fact($1, $2, 'profile', $3, to_jsonb($4::text))", b.UserID, b.AppName, key, value)
	b.draw(t, id, thread, from, to)
	return id
}

func sorted(texts ...string) []string {
	slices.SortFunc(texts, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	return texts
}

func (b *testBundle) kept(t *testing.T) []string {
	t.Helper()
	texts := list[string](t, b, `SELECT value #>> '{}' FROM hippocampus.facts WHERE user_id = $1
		UNION ALL SELECT content FROM hippocampus.memories WHERE user_id = $1 ORDER BY 1`, b.UserID)
	return sorted(texts...)
}

// An event that is forgotten takes along what was drawn from it, unless another event tells it as well.
func TestForgetEvent(t *testing.T) {
	t.Parallel()
	forget := func(t *testing.T, b *testBundle, ids ...uuid.UUID) int32 {
		t.Helper()
		return get[int32](t, b, "SELECT hippocampus.forget($1, $2, $3)", b.UserID, b.AppName, ids)
	}

	t.Run("WhatWasDrawnFromIt", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct{ forgotten, other, value, insight, stays string }{
			"English":     {"By the way I moved to Zqxlisbon last month, for the new job", "I love coffee in the morning", "Zqxlisbon", "The user moved to Zqxlisbon for a job", "coffee"},
			"Chinese":     {"顺便说一下，我上个月搬到里斯本了", "我每天早上喝咖啡", "里斯本", "用户搬到了里斯本", "每天早上喝咖啡"},
			"InOwnWords":  {"Me and planes, no way", "I love coffee in the morning", "afraid of flying", "", "coffee"},
			"WithASecond": {"I moved to Zqxlisbon and got a cat", "I love coffee in the morning", "Zqxlisbon", "Has a cat, in Zqxlisbon", "coffee"},
		} {
			for _, named := range []bool{true, false} { // whether the model named its sources, or all of the conversation is its source
				if name == "InOwnWords" && !named {
					c.value = "afraid of planes" // or nothing would tell from which of the two it came
				}
				b := setup(t)
				b.exec(t, "SELECT hippocampus.remember($1, $2, 'The office is for a new job, last month and by the way')", b.UserID, b.AppName) // its words are known among memories
				thread, events := b.said(t, c.forgotten, c.other, "Noted, thank you")
				from, to := 1, 3
				if named {
					to = 1
				}
				b.drawnFact(t, "location", c.value, thread, from, to)
				if c.insight != "" {
					b.draw(t, b.remember(t, c.insight), thread, from, to)
				}
				if named {
					from, to = 2, 2
				}
				b.drawnFact(t, "drink", c.stays, thread, from, to)
				require.Positive(t, forget(t, b, events[0]))
				require.Equal(t, sorted(c.stays, "The office is for a new job, last month and by the way"), b.kept(t), "%s %v", name, named)
				lines := list[string](t, b, "SELECT content FROM hippocampus.get_context_window($1, $2, $3)", b.UserID, b.AppName, c.value)
				require.NotContains(t, fmt.Sprint(lines), c.value)
			}
		}
	})

	// What a client of SQL drew itself has its source by the sequences that it named.
	t.Run("WhatAClientDrew", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread, events := b.said(t, "I moved to Zqxlisbon", "I love coffee")
		state := func(facts ...map[string]any) {
			b.exec(t, "SELECT hippocampus.remember_facts($1, $2, $3, $4, p_model => 'mine')", b.UserID, b.AppName, toJSON(t, facts), thread)
		}
		for range 2 {
			state(map[string]any{"key": "location", "value": "Zqxlisbon", "sequences": []int{1}}, map[string]any{"key": "drink", "value": "coffee", "sequences": []int{2}})
		}
		require.Equal(t, []string{"1 1 mine", "2 2 mine"}, list[string](t, b, "SELECT concat_ws(' ', from_seq, to_seq, model) FROM hippocampus.memory_sources WHERE user_id = $1 ORDER BY 1", b.UserID))
		state(map[string]any{"key": "drink", "value": "coffee", "sequences": []int{}}, map[string]any{"key": "food", "value": "sushi"})
		require.Equal(t, 2, get[int](t, b, "SELECT count(*) FROM hippocampus.memory_sources WHERE user_id = $1", b.UserID))
		require.Equal(t, int32(2), forget(t, b, events[0]))
		require.Equal(t, []string{"coffee", "sushi"}, b.kept(t))
	})

	t.Run("PassedOverBeforeForAnotherThing", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread, events := b.said(t, "I live in Zqxlisbon, and play the violin", "The violin is out of tune")
		b.drawnFact(t, "city", "Zqxlisbon", thread, 1, 1)
		hobby := b.drawnFact(t, "hobby", "play the violin", thread, 1, 1)
		b.draw(t, hobby, thread, 2, 2)
		b.exec(t, "SELECT hippocampus.forget_memory($1, $2, 'Zqxlisbon')", b.UserID, b.AppName)
		require.Equal(t, []string{"play the violin"}, b.kept(t))
		require.Equal(t, int32(2), forget(t, b, events[0]))
		require.Empty(t, b.kept(t), "the other event tells less of it")
	})

	t.Run("WhatWasToldTwiceStays", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		one, first := b.said(t, "I live in Lisbon now", "thank you")
		two, second := b.said(t, "Here in Lisbon it is hot")
		fact := b.drawnFact(t, "location", "Lisbon", one, 1, 2)
		b.draw(t, fact, two, 1, 1)
		require.Equal(t, int32(1), forget(t, b, first[0]))
		require.Equal(t, []string{"Lisbon"}, b.kept(t))
		require.Equal(t, int32(2), forget(t, b, second[0]))
		require.Empty(t, b.kept(t))
	})

	t.Run("ItsHistoryAndTheSummariesAfterIt", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread, events := b.said(t, "I moved to Zqxlisbon", "hello", "what is the weather", "bye")
		fact := b.drawnFact(t, "location", "Zqxlisbon", thread, 1, 1)
		b.exec(t, "UPDATE hippocampus.facts SET recorded_at = now() - interval '1 day' WHERE id = $1", fact)
		b.exec(t, `SELECT hippocampus.upsert_fact($1, $2, 'profile', 'location', '"Zqxlisbon"', p_valid_from => '2020-01-01')`, b.UserID, b.AppName)
		require.Len(t, b.kept(t), 2) // what was believed of it, too
		require.Equal(t, 2, get[int](t, b, "SELECT count(*) FROM hippocampus.memory_sources WHERE user_id = $1", b.UserID))
		for _, s := range []struct {
			text     string
			from, to int
		}{{"They moved", 1, 2}, {"They, now of Zqxlisbon, asked for the weather", 3, 3}, {"They said goodbye", 4, 4}} {
			b.rememberWith(t, s.text, "p_memory_type => 'summary', p_thread_id => $5, p_from_seq => $6, p_to_seq => $7", thread, s.from, s.to)
		}
		require.Equal(t, int32(5), forget(t, b, events[0]))
		require.Equal(t, []string{"They said goodbye"}, b.kept(t))
		require.Equal(t, []string{"events.content", "events.text"}, b.holders(t, "zqx"))
	})

	// An episode is its events, long after they left short-term memory.
	t.Run("AnEpisodeAsItsEvents", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread, _ := b.said(t, "By the way I moved to Zqxlisbon last month, for the new job", "I love coffee")
		episode := b.rememberWith(t, "user: By the way I moved to Zqxlisbon last month, for the new job", "p_memory_type => 'episodic', p_thread_id => $5, p_from_seq => 1", thread)
		b.drawnFact(t, "location", "Zqxlisbon", thread, 1, 2)
		b.drawnFact(t, "job", "a new one since last month", thread, 2, 2) // another event's, and of words that the first has
		require.Equal(t, int32(2), forget(t, b, episode))
		require.Equal(t, []string{"a new one since last month"}, b.kept(t))
	})

	// The ids of what is forgotten, and of what was made of it, are in no report of a sleep.
	t.Run("NoReportNamesIt", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		one, two, cluster, derived := b.remember(t, "one"), b.remember(t, "two"), b.rememberWith(t, "a cluster", "p_memory_type => 'summary'"), b.remember(t, "an insight")
		b.exec(t, "INSERT INTO hippocampus.memory_clusters (id, user_id, app_name, started_at, ended_at) VALUES ($3, $1, $2, now(), now())", b.UserID, b.AppName, cluster)
		b.exec(t, "INSERT INTO hippocampus.memory_cluster_members (cluster_id, memory_id, user_id, app_name) SELECT $3, m, $1, $2 FROM unnest($4::uuid[]) m", b.UserID, b.AppName, cluster, []uuid.UUID{one, two})
		b.exec(t, "SELECT hippocampus.link_memories($1, $2, $3, $4, 'derived_from')", b.UserID, b.AppName, derived, cluster)
		b.exec(t, "SELECT hippocampus.enqueue_sleep($1, $2)", b.UserID, b.AppName)
		b.exec(t, "UPDATE hippocampus.sleep_reports SET changed_ids = $2 WHERE user_id = $1", b.UserID, []uuid.UUID{two, one, cluster, derived})
		b.exec(t, "SELECT set_config('role', 'hippocampus_tenant', true), set_config('hippocampus.user_id', $1, true), set_config('hippocampus.app_name', $2, true)", b.UserID, b.AppName)
		require.Equal(t, int32(3), forget(t, b, one))
		b.exec(t, "RESET ROLE")
		require.Equal(t, []uuid.UUID{two}, get[[]uuid.UUID](t, b, "SELECT changed_ids FROM hippocampus.sleep_reports WHERE user_id = $1", b.UserID))
		for _, id := range []uuid.UUID{one, cluster, derived} {
			require.Empty(t, b.holders(t, id.String()))
		}
	})
}

// The events that tell what is forgotten: those of its source, and others where more than a word says so.
func TestForgetPassesOverWhatTellsIt(t *testing.T) {
	t.Parallel()
	passed := func(t *testing.T, b *testBundle, ids ...uuid.UUID) []string {
		t.Helper()
		b.exec(t, "SELECT hippocampus.forget($1, $2, $3)", b.UserID, b.AppName, ids)
		return list[string](t, b, `SELECT e.text FROM hippocampus.forgotten_events f
			JOIN hippocampus.events e ON e.thread_id = f.thread_id AND e.sequence_num = f.sequence_num WHERE f.user_id = $1 ORDER BY e.created_at, e.sequence_num`, b.UserID)
	}
	colours := map[string][]string{
		"red": {"My favourite colour is red", "The red truck delivers the parcel", "Error 30 on the door, red light on", "The colour of the door is blue"},
		"红色":  {"我最喜欢的颜色是红色", "红色的卡车送来包裹", "门上亮起红色的灯", "门是蓝色的"},
		"赤色":  {"好きな色は赤色です", "赤色のトラックが来た", "赤色のランプがつく", "ドアは青い"},
	}
	for value, texts := range colours {
		t.Run("AWordAloneOfAnotherThing/"+value, func(t *testing.T) {
			t.Parallel()
			for _, sequences := range [][]int{{1}, {1, 2}} { // the source may be wider than what tells it
				b := setup(t)
				thread, _ := b.said(t, texts...)
				state := func(value string, sequences []int) uuid.UUID {
					return get[uuid.UUID](t, b, "SELECT fact_id FROM hippocampus.remember_facts($1, $2, $3, $4)", b.UserID, b.AppName,
						toJSON(t, []map[string]any{{"key": "favourite_colour", "value": value, "sequences": sequences}}), thread)
				}
				b.exec(t, `SELECT hippocampus.upsert_fact($1, $2, 'custom', 'favourite_colour', to_jsonb($3::text), p_valid_from => '2020-01-01')`, b.UserID, b.AppName, value)
				state("blue", []int{4}) // so that it stands in its history, of no source, too
				fact := state(value, sequences)
				require.Equal(t, texts[:len(sequences)], passed(t, b, fact))
			}
		})
	}

	t.Run("AnInsightOfAWord", func(t *testing.T) {
		t.Parallel()
		for insight, texts := range map[string][]string{
			"Enjoys tea": {"Tea for me, always", "The tea shop closes at nine"}, "爱喝绿茶": {"我只要绿茶", "绿茶店九点关门"},
		} {
			b := setup(t)
			thread, _ := b.said(t, texts...)
			id := b.remember(t, insight)
			b.draw(t, id, thread, 1, 1)
			require.Equal(t, texts[:1], passed(t, b, id))
		}
	})

	t.Run("AnywhereByItsWords", func(t *testing.T) {
		t.Parallel()
		for value, texts := range map[string][2]string{
			"strongly dislikes redux": {"I strongly dislike redux", "Redux again? You know that I dislike it strongly"}, "非常讨厌加班": {"我非常讨厌加班", "说过了，我非常讨厌加班"},
		} {
			b := setup(t)
			thread, _ := b.said(t, texts[0])
			b.said(t, "nothing of it", texts[1])
			require.Equal(t, texts[:], passed(t, b, b.drawnFact(t, "dislikes", value, thread, 1, 1)))
		}
	})

	// Of what has no source, a word is all there is to look for, unless the key says more.
	t.Run("OfNoSource", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.said(t, "I moved to Lisbon", "hello", "My favourite colour is red", "The red truck is in Lisbon")
		state := func(key, value string) uuid.UUID {
			return get[uuid.UUID](t, b, "SELECT hippocampus.upsert_fact($1, $2, 'profile', $3, to_jsonb($4::text))", b.UserID, b.AppName, key, value)
		}
		require.Equal(t, []string{"My favourite colour is red"}, passed(t, b, state("favourite_colour", "red")))
		require.Equal(t, []string{"I moved to Lisbon", "My favourite colour is red", "The red truck is in Lisbon"}, passed(t, b, state("location", "Lisbon")))
	})
}

// What took another memory's place gives it back when it goes, whatever deletes it.
func TestReleaseSuperseded(t *testing.T) {
	t.Parallel()
	found := func(t *testing.T, b *testBundle, query string) []string {
		t.Helper()
		return list[string](t, b, "SELECT content FROM hippocampus.search_memory($1, $2, $3) ORDER BY 1", b.UserID, b.AppName, query)
	}
	merged := func(t *testing.T, b *testBundle) (thread uuid.UUID) {
		t.Helper()
		one, _ := b.said(t, "tea, please")
		two, _ := b.said(t, "a green tea, please")
		older := b.rememberWith(t, "she drinks tea", "p_embedding => $5", vector(1))
		b.now = b.now.Add(time.Second)
		newer := b.rememberWith(t, "she drinks green tea", "p_embedding => $5", vector(1, 0.001))
		b.draw(t, older, one, 1, 1)
		b.draw(t, newer, two, 1, 1)
		b.exec(t, "SELECT hippocampus.tidy_memories($1, $2)", b.UserID, b.AppName)
		require.Equal(t, []string{"she drinks green tea"}, found(t, b, "tea"))
		return two
	}

	t.Run("ForgottenThread", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := merged(t, b)
		require.Equal(t, int32(1), get[int32](t, b, "SELECT hippocampus.forget_thread($1, $2, $3)", b.UserID, b.AppName, thread))
		require.Equal(t, []string{"she drinks tea"}, found(t, b, "tea"))
		require.Equal(t, []string{"she drinks tea"}, list[string](t, b, "SELECT content FROM hippocampus.list_memories($1, $2)", b.UserID, b.AppName))
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.embedding_queue WHERE user_id = $1", b.UserID)) // its vector comes back, too
	})

	t.Run("Retention", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		merged(t, b)
		b.exec(t, "UPDATE hippocampus.memories SET last_accessed_at = $2, created_at = $2 WHERE user_id = $1 AND content ~ 'green'", b.UserID, b.now.AddDate(-9, 0, 0))
		require.Equal(t, int32(1), get[int32](t, b, "SELECT hippocampus.cleanup_low_value_memories(0.1, 7, p_user_id => $1, p_app_name => $2, p_now => $3)", b.UserID, b.AppName, b.now))
		require.Equal(t, []string{"she drinks tea"}, found(t, b, "tea"))
	})

	t.Run("OneOfTheSameWordsIsThere", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		newer := b.remember(t, "she drinks green tea")
		for range 2 { // stored again after it was superseded, and superseded again
			b.exec(t, "SELECT hippocampus.supersede($1, $2, $3, $4)", b.UserID, b.AppName, b.remember(t, "she drinks tea"), newer)
		}
		b.exec(t, "DELETE FROM hippocampus.memories WHERE id = $1", newer)
		require.Equal(t, []string{"she drinks tea"}, found(t, b, "tea"))

		again := b.remember(t, "she drinks green tea")
		b.exec(t, "SELECT hippocampus.supersede($1, $2, $3, $4)", b.UserID, b.AppName, b.remember(t, "she drinks tea"), again)
		b.remember(t, "she drinks tea")
		b.exec(t, "DELETE FROM hippocampus.memories WHERE id = $1", again)
		require.Equal(t, []string{"she drinks tea"}, found(t, b, "tea"))
		require.Zero(t, get[int](t, b, `SELECT count(*) FROM hippocampus.memories m WHERE m.user_id = $1 AND m.superseded_by IS NOT NULL
			AND NOT EXISTS (SELECT FROM hippocampus.memories n WHERE n.id = m.superseded_by)`, b.UserID))
	})

	// Or the correction would fade first, and what it corrected be found again.
	t.Run("TheNewOneIsHeldAsStrongly", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		old := b.rememberWith(t, "the office is in Berlin", "p_importance => 0.9, p_initial_score => 0.7, p_intensity => 0.8")
		b.exec(t, "SELECT hippocampus.record_access($1, $2, array_fill($3::uuid, ARRAY[1]), now() + make_interval(mins => n)) FROM generate_series(1, 20) n", b.UserID, b.AppName, old)
		corrected := b.remember(t, "the office is in Lisbon")
		b.exec(t, "SELECT hippocampus.supersede($1, $2, $3, $4)", b.UserID, b.AppName, old, corrected)
		require.Empty(t, list[string](t, b, `SELECT n.content FROM hippocampus.memories o, hippocampus.memories n WHERE o.id = $1 AND n.id = $2
			AND (o.importance, o.initial_score, o.running_intensity, o.access_count, o.last_accessed_at) IS DISTINCT FROM
				(n.importance, n.initial_score, n.running_intensity, n.access_count, n.last_accessed_at)`, old, corrected))
	})

	t.Run("AFactStaysHistory", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.state(t, "Berlin", "")
		b.now = b.now.Add(day)
		b.state(t, "Lisbon", "")
		b.exec(t, "UPDATE hippocampus.facts SET closed_reason = 'moved to zqxlisbon' WHERE user_id = $1 AND valid_until IS NOT NULL", b.UserID)
		b.exec(t, "DELETE FROM hippocampus.facts WHERE user_id = $1 AND valid_until IS NULL", b.UserID)
		require.Empty(t, b.holders(t, "zqx"))
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.facts WHERE user_id = $1 AND superseded_by IS NULL AND valid_until IS NOT NULL", b.UserID))
	})
}

// A fact in words of a model's own may be of any event of its source; of one that was forgotten before, a preview lists
// the event, which forgetting would empty, and does not show again what it said.
func TestPreviewShowsNothingForgotten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	thread, events := b.said(t, "My zqxsecret is known", "I stay at home", "Noted")
	fact := b.drawnFact(t, "character", "cautious", thread, 1, 3)
	preview := func() []string {
		return list[string](t, b, "SELECT text FROM hippocampus.preview_forget($1, $2, 'character cautious') WHERE source = 'event' ORDER BY occurred_at, text", b.UserID, b.AppName)
	}
	require.ElementsMatch(t, []string{"My zqxsecret is known", "I stay at home", "Noted"}, preview())
	b.exec(t, "INSERT INTO hippocampus.forgotten_events (thread_id, sequence_num, user_id, app_name) VALUES ($1, 1, $2, $3)", thread, b.UserID, b.AppName)
	require.ElementsMatch(t, []string{"", "I stay at home", "Noted"}, preview())
	require.Equal(t, int32(4), get[int32](t, b, "SELECT hippocampus.forget($1, $2, $3)", b.UserID, b.AppName, append(events, fact)))
	require.Equal(t, []string{"My zqxsecret is known", "I stay at home", "Noted"}, // the log shows what it holds
		list[string](t, b, "SELECT e.text FROM hippocampus.recent_events($1, $2, $3) e", b.UserID, b.AppName, thread))
	require.Empty(t, list[string](t, b, "SELECT e.text FROM hippocampus.short_term_memory($1, $2, $3, p_now => $4) e", b.UserID, b.AppName, thread, b.now))
}
