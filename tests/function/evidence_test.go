package function_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// talk remembers turns as a conversation that was consolidated: «author: text», a minute apart.
func (b *testBundle) talk(t *testing.T, turns ...string) uuid.UUID {
	t.Helper()
	thread := b.thread(t)
	for i, turn := range turns {
		author, _, _ := strings.Cut(turn, ": ")
		b.rememberWith(t, turn, `p_memory_type => 'episodic', p_thread_id => $5, p_from_seq => $6, p_to_seq => $6, p_author => $7,
			p_occurred_from => $8, p_occurred_until => $8`, thread, i+1, author, b.now.Add(time.Duration(i-len(turns))*time.Minute))
	}
	return thread
}

// evidence sets weights of the app's evidence, beside those that it has.
func (b *testBundle) evidence(t *testing.T, weights string) {
	t.Helper()
	b.exec(t, "SELECT hippocampus.put_setting($1, 'evidence', hippocampus._setting($1, 'evidence') || $2::jsonb)", b.AppName, weights)
}

func TestEvidence(t *testing.T) {
	t.Parallel()

	t.Run("AnAnswerHasWhatItsQuestionHas", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct{ question, answer, other, query string }{
			{"Otto: Which instrument do you play?", "Ida: The cello, since I was nine.", "Ida: I have a cold.", "Which instrument does Ida play?"},
			{"Otto: 你会弹什么乐器？", "Ida: 大提琴，从九岁开始。", "Ida: 我感冒了。", "Ida会弹什么乐器"},
		} {
			b := setup(t)
			b.talk(t, "Otto: Hello!", c.other, c.question, c.answer, "Otto: Great!")
			require.Equal(t, c.answer, b.found(t, c.query, "")[0])
			b.evidence(t, `{"answer": 0, "question": 0, "author": 0}`)
			require.Equal(t, c.question, b.found(t, c.query, "")[0])
		}
	})

	t.Run("ALongQuestionTellsSomething", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		long := "user: " + strings.Repeat("I play the cello in an orchestra. ", 10) + "What instrument should my daughter learn?"
		b.talk(t, long, "agent: The violin.")
		hits := b.search(t, "instrument", "")
		require.Equal(t, long, hits[0].Content)
		require.Equal(t, 1.0, hits[0].Worth)
	})

	t.Run("ATurnIsWorthLessWhereItIsShort", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.talk(t, "Ida: Tea!", "Ida: Tea?", "Ida: "+strings.Repeat("a cup of tea ", 15))
		b.remember(t, "tea")
		worth := map[string]float64{}
		for _, h := range b.search(t, "tea", "") {
			worth[h.Content[:min(9, len(h.Content))]] = h.Worth
		}
		require.InDelta(t, 0.9+0.1*9/150, worth["Ida: Tea!"], 1e-9)
		require.InDelta(t, (0.9+0.1*9/150)*0.95, worth["Ida: Tea?"], 1e-9)
		require.Equal(t, 1.0, worth["Ida: a cu"])
		require.Equal(t, 1.0, worth["tea"]) // no turn of a conversation
	})

	t.Run("NoConversationTakesEveryPlace", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		talks := map[uuid.UUID]int{}
		for range 3 {
			turns := make([]string, 12)
			for i := range turns {
				turns[i] = fmt.Sprintf("Ida: %s %d", strings.Repeat("the garden grows ", 10), i)
			}
			b.talk(t, turns...)
		}
		for _, h := range b.search(t, "garden", "p_limit => 6") {
			talks[*h.ThreadID]++
		}
		require.Len(t, talks, 3)
		for _, n := range talks {
			require.Equal(t, 2, n)
		}
	})

	t.Run("TwoAtOnePlaceAreTwo", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		const at = "p_memory_type => 'episodic', p_thread_id => $5, p_from_seq => $6, p_to_seq => $6, p_tags => $7"
		thread := b.talk(t, "Ida: Where were we?")
		for _, text := range []string{"the cello is mended", "the cello is sold", "rain"} {
			b.rememberWith(t, text, at, thread, 2, []string{text[:3]})
		}
		require.ElementsMatch(t, []string{"the cello is mended", "the cello is sold", "Ida: Where were we?"}, b.found(t, "cello", ""))
		require.Equal(t, "the cello is sold", b.found(t, "sold cello", "")[0])
		require.Equal(t, []string{"rain"}, b.found(t, "rain", "p_tags => '{rai}'"))
		scores := map[string]float64{}
		for _, h := range b.search(t, "cello mended", "") {
			scores[h.Content] = h.WordScore
		}
		require.Greater(t, scores["the cello is mended"], scores["the cello is sold"])
	})

	t.Run("WhatIsNoMemoryTakesNoPlace", func(t *testing.T) {
		t.Parallel()
		for _, events := range []int{0, 600} { // with its log, and without
			b := setup(t)
			thread := b.thread(t)
			if events > 0 {
				b.exec(t, `SELECT count(*) FROM hippocampus.append_events($1, (SELECT jsonb_agg('{"author": "user", "content": {"text": "well"}}'::jsonb)
					FROM generate_series(1, $2)))`, thread, events)
			}
			for i := range 120 { // every fifth turn, so that no other stands beside it
				text := "harbour"
				if i < 60 {
					text = "harbour lights harbour lights"
				}
				b.rememberWith(t, fmt.Sprintf("%s %d", text, i), "p_memory_type => 'episodic', p_thread_id => $5, p_from_seq => $6, p_to_seq => $6", thread, 5*i+3)
			}
			for _, limit := range []int{10, 33, 60, 100, 120} {
				require.Len(t, b.found(t, "harbour lights", fmt.Sprintf("p_limit => %d", limit)), limit)
			}
		}
	})

	t.Run("ANeighbourThatHolds", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		const at = "p_memory_type => 'episodic', p_thread_id => $5, p_from_seq => $6, p_to_seq => $6"
		thread := b.talk(t, "Otto: Which instrument do you play?")
		old, holds := b.rememberWith(t, "The flute.", at, thread, 2), b.rememberWith(t, "The cello.", at, thread, 2)
		b.exec(t, "SELECT hippocampus.supersede($1, $2, $3, $4)", b.UserID, b.AppName, old, holds)
		b.exec(t, "UPDATE hippocampus.memories SET created_at = created_at + interval '1 s' WHERE id = $1", holds) // stands behind it now
		require.Contains(t, b.found(t, "Which instrument does Ida play?", ""), "The cello.")
	})

	t.Run("EveryPartOfTheScore", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.talk(t, "Ida: We bought tea yesterday.", "Otto: Which tea?", "Ida: Green tea, as always when it rains.")
		b.remember(t, "tea")
		w := map[string]float64{"author": 0.25, "time": 0.3, "text": 0.55, "vector": 0.35, "strength": 0.05, "recency": 0.05}
		timely, asked, spread := 0, 0, 0
		for _, h := range b.search(t, "Which tea did Ida buy today?", "") {
			text := h.WordScore * (1 - w["author"])
			if h.Asked {
				text += w["author"]
				asked++
			}
			if h.Timely {
				text += w["time"]
				timely++
			}
			if h.Spread > 0 {
				spread++
			}
			require.InDelta(t, h.Worth*text/(1+w["time"]), h.TextScore, 1e-9, h.Content)
			require.InDelta(t, w["text"]*h.TextScore+w["vector"]*h.VectorScore+w["strength"]*h.Retention+w["recency"]*h.Recency-h.Spread,
				h.Score, 1e-9, h.Content)
		}
		require.Equal(t, []int{4, 2, 2}, []int{timely, asked, spread})
		second := b.search(t, "tea", "")[1]
		require.InDelta(t, 0.025*math.Log(2), second.Spread, 0.02)
	})

	t.Run("ATurnMeansWhatIsSaidAroundIt", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.evidence(t, `{"spread": 0}`)
		b.talk(t, "one", "two", "three", "four")
		b.talk(t, "alone")
		gap := b.thread(t)
		for seq, content := range map[int]string{1: "before the gap", 3: "after the gap"} {
			b.rememberWith(t, content, "p_memory_type => 'episodic', p_thread_id => $5, p_from_seq => $6, p_to_seq => $6", gap, seq)
		}
		b.remember(t, "note")
		b.remember(t, "far note")
		want := map[string]struct{ own, nearby float64 }{
			"one": {0.6, 0.7},                        // nothing is before it
			"two": {0.8, 0.45}, "three": {0.5, 0.35}, // what is after "three" is the farthest of all
			"four": {0.1, 0.2}, "alone": {0.65, 0}, "before the gap": {0.4, 0}, "after the gap": {0.35, 0}, "note": {0.62, 0}, "far note": {0.1, 0},
		}
		for content, w := range want {
			b.exec(t, `SELECT hippocampus.put_embedding($1, $2, 'memory', m.id, $4) FROM hippocampus.memories m
				WHERE m.user_id = $1 AND m.content = $3`, b.UserID, b.AppName, content, at(w.own))
		}
		for _, weight := range []float64{0, 0.5, 1} {
			b.evidence(t, fmt.Sprintf(`{"meaning": %g}`, weight))
			hits := b.search(t, "", "p_query_embedding => $5", vector(1))
			require.Len(t, hits, len(want))
			for _, h := range hits {
				w := want[h.Content]
				require.InDelta(t, w.own, h.VectorScore, 1e-3, h.Content)
				require.InDelta(t, w.nearby, h.NearbyScore, 1e-3, h.Content)
				require.InDelta(t, 0.35/(0.55+0.35)*min(1, w.own+weight*w.nearby), h.Relevance, 1e-3, h.Content)
			}
		}
		b.evidence(t, `{"meaning": 0.5}`)
		require.Equal(t, []string{"two", "one", "three", "alone"}, b.found(t, "", "p_query_embedding => $5, p_limit => 4", vector(1)))
		require.Equal(t, []string{"two", "alone", "note", "one"}, b.found(t, "", "p_query_embedding => $5, p_profile => 'retention'", vector(1))[:4])
		for _, h := range b.search(t, "two three", "") {
			require.Zero(t, h.NearbyScore) // words have evidence of their own
		}
	})

	t.Run("WeightsAreASettingOfTheApp", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.talk(t, "Ida: I drink tea", "Otto: and I coffee")
		b.exec(t, "SELECT hippocampus.put_setting($1, 'evidence', '{}')", b.AppName)
		hit := b.search(t, "What tea does Ida drink?", "")[0]
		require.Equal(t, 1.0, hit.WordScore)
		require.Equal(t, hit.WordScore, hit.TextScore) // what it leaves out counts nothing
		require.Len(t, b.search(t, "tea", ""), 1)      // not even the neighbour
		for value, message := range map[string]string{
			`{"nearby": 2}`:      "the weight nearby of the setting evidence is 2",
			`{"author": -1}`:     "the weight author of the setting evidence is -1",
			`{"spread": "much"}`: "the weight spread of the setting evidence is null",
			`{"text": 1}`:        "a weight of the setting evidence is 'text'",
			`3`:                  "the setting 'evidence' is 3",
		} {
			b.refuses(t, "HC009", message, "SELECT hippocampus.put_setting($1, 'evidence', $2)", b.AppName, value)
		}
		b.refuses(t, "HC009", "the setting 'evidence' of app '*' cannot go", "DELETE FROM hippocampus.settings WHERE key = 'evidence' AND app_name = '*'")
	})

	t.Run("TheMarkOfAQuestionGoesWithItsRow", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.talk(t, "Otto: Which tea?", "Ida: Green.")
		marks := func() int {
			return get[int](t, b, "SELECT count(*)::integer FROM hippocampus.row_terms WHERE user_id = $1 AND asks", b.UserID)
		}
		totals := func() []int64 {
			return list[int64](t, b, `SELECT unnest(ARRAY[coalesce(sum(t.rows), 0), coalesce(sum(t.terms), 0)])::bigint
				FROM hippocampus.posting_totals t WHERE t.user_id = $1 AND t.source = 'memory'`, b.UserID)
		}
		require.Equal(t, 1, marks())
		require.Empty(t, b.found(t, "?", "p_min_relevance => 0.01"))
		b.exec(t, "UPDATE hippocampus.memories m SET superseded_by = o.id FROM hippocampus.memories o WHERE m.user_id = $1 AND o.user_id = $1 AND m.from_seq = 1 AND o.from_seq = 2", b.UserID)
		require.Zero(t, marks())
		b.exec(t, "UPDATE hippocampus.memories SET superseded_by = NULL WHERE user_id = $1", b.UserID)
		require.Equal(t, 1, marks())
		b.exec(t, "SELECT hippocampus.forget_thread($1, $2, $3)", b.UserID, b.AppName, thread)
		require.Zero(t, marks())
		require.Equal(t, []int64{0, 0}, totals())
	})
}

func TestTruthGoesFirst(t *testing.T) {
	t.Parallel()
	// told has the log tell facts: event seq of the thread tells the value.
	told := func(t *testing.T, b *testBundle, thread uuid.UUID, seq int, key, value string) {
		t.Helper()
		b.now = b.now.Add(day)
		id := get[uuid.UUID](t, b, "SELECT hippocampus.upsert_fact($1, $2, 'profile', $3, to_jsonb($4::text), p_now => $5)",
			b.UserID, b.AppName, key, value, b.now)
		b.exec(t, `INSERT INTO hippocampus.memory_sources (from_seq, to_seq, fact_id, thread_id, user_id, app_name)
			VALUES ($1, $1, $2, $3, $4, $5)`, seq, id, thread, b.UserID, b.AppName)
	}
	const before, after = "Maya: I live in Berlin, where I live with my cat, and I live well.", "Maya: We moved, so now it is Lisbon where we live."
	for _, language := range []struct{ before, after, query, aside string }{
		{before, after, "Where does Maya live?", "cat"},
		{"林晓: 我住在北京，住在北京很久了。", "林晓: 我搬家了，现在住上海。", "林晓住在哪里？住在北京吗？", "很久"},
	} {
		b := setup(t)
		thread := b.talk(t, language.before, "agent: Good to know.", "agent: Anything else?", language.after, "agent: I see.")
		require.Equal(t, language.before, b.found(t, language.query, "")[0]) // by its words it is the better one
		told(t, b, thread, 1, "city", "Berlin")
		require.Equal(t, language.before, b.found(t, language.query, "")[0]) // nothing else is known
		told(t, b, thread, 4, "city", "Lisbon")
		hits := b.search(t, language.query, "")
		require.Equal(t, []string{language.after, language.before}, []string{hits[0].Content, hits[1].Content})
		require.Greater(t, hits[0].Lent, 0.0)
		require.Zero(t, hits[1].Lent) // what was told before is there still
		require.Len(t, b.search(t, language.query, "p_limit => 1"), 1)
		require.Equal(t, language.after, b.found(t, language.query, "p_limit => 1")[0])
		require.Equal(t, language.before, b.found(t, language.aside, "")[0]) // what has no word of the query gets nothing
		told(t, b, thread, 1, "city", "Berlin")                              // and back
		require.Equal(t, language.before, b.found(t, language.query, "")[0])
	}

	t.Run("OfTheSameTenant", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.talk(t, before, "agent: Good to know.", after)
		told(t, b, thread, 1, "city", "Berlin")
		user := b.UserID
		b.UserID += "x"
		b.exec(t, "SELECT hippocampus.upsert_fact($1, $2, 'profile', 'city', '\"Lisbon\"')", b.UserID, b.AppName)
		b.UserID = user
		require.Equal(t, before, b.found(t, "Where does Maya live?", "")[0])
	})
}
