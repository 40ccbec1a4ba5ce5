package function_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
)

func TestExplainSearch(t *testing.T) {
	t.Parallel()
	type explained struct {
		Query struct {
			Terms []struct {
				Term    string
				DF, IDF float64
				Finds   bool
			}
			Time   *string
			Vector bool
		}
		Weights struct {
			From map[string]struct {
				App string `json:"app_name"`
				Key string
			}
		}
		Hits []struct {
			MemoryID uuid.UUID `json:"memory_id"`
			Content  string
			Score    float64
			Gave     map[string]float64
			Words    []struct{ Term string }
			Nearby   []struct {
				Term string
				Step int
			}
		}
	}
	explain := func(t *testing.T, b *testBundle, query, named string, args ...any) (e explained) {
		t.Helper()
		raw := get[json.RawMessage](t, b, "SELECT hippocampus.explain_search($1, $2, $3, p_now => $4"+named+")",
			append([]any{b.UserID, b.AppName, query, b.now}, args...)...)
		require.NoError(t, json.Unmarshal(raw, &e))
		return e
	}

	t.Run("EveryPartAddsUp", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.talk(t, "Ida: We bought a kettle yesterday.", "Otto: For which tea?", "Ida: Green tea, as always when it rains.")
		b.rememberWith(t, "green tea", "p_embedding => $5", vector(1))
		e := explain(t, b, "Which green tea did Ida buy today?", ", p_query_embedding => $5", vector(1))
		hits := b.search(t, "Which green tea did Ida buy today?", "p_query_embedding => $5", vector(1))
		require.Len(t, e.Hits, len(hits))
		for i, h := range e.Hits {
			require.Equal(t, hits[i].MemoryID, h.MemoryID)
			sum := 0.0
			for _, gave := range h.Gave {
				sum += gave
			}
			require.InDelta(t, hits[i].Score, sum, 1e-9)
		}
		require.NotNil(t, e.Query.Time)
		require.True(t, e.Query.Vector)
		require.Equal(t, "*", e.Weights.From["evidence"].App)
		b.exec(t, `SELECT hippocampus.put_setting($1, 'ranking', '{"text": 1}')`, b.AppName)
		require.Equal(t, b.AppName, explain(t, b, "tea", "").Weights.From["ranking"].App)
		require.Equal(t, "ranking", explain(t, b, "tea", "").Weights.From["ranking"].Key)
		require.Nil(t, explain(t, b, "tea", ", p_profile => 'retention'").Hits[0].Gave)
	})

	t.Run("WordsAndThoseBesideIt", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.talk(t, "Ida: zebras", "Otto: lions and zebras")
		b.remember(t, "lions in the plural")
		e := explain(t, b, "lion zebra unicorn", "")
		require.Len(t, e.Query.Terms, 2) // nothing has the third
		for _, term := range e.Query.Terms {
			require.Equal(t, 2.0, term.DF)
			require.Greater(t, term.IDF, 0.0)
			require.True(t, term.Finds)
		}
		content := map[string]int{}
		for i, h := range b.search(t, "lion zebra unicorn", "") {
			content[h.Content] = i
		}
		ida := e.Hits[content["Ida: zebras"]]
		require.Equal(t, "zebra", ida.Words[0].Term)
		require.Len(t, ida.Words, 1)
		require.ElementsMatch(t, []string{"lion 1", "zebra 1"}, []string{
			fmt.Sprintf("%s %d", ida.Nearby[0].Term, ida.Nearby[0].Step), fmt.Sprintf("%s %d", ida.Nearby[1].Term, ida.Nearby[1].Step),
		})
		require.Empty(t, e.Hits[content["lions in the plural"]].Nearby)
	})

	// Of a common word, only what rarer words found too is looked at, but where a filter may want just the others.
	t.Run("WhichWordsFind", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.exec(t, `INSERT INTO hippocampus.memories (user_id, app_name, content, content_hash, token_count)
			SELECT $1, $2, 'coffee ' || i, hippocampus._content_hash('coffee ' || i), 2 FROM generate_series(1, 3000) i`, b.UserID, b.AppName)
		for _, content := range []string{"lion", "zebra"} {
			b.remember(t, content)
		}
		b.rememberWith(t, "coffee for two", "p_tags => '{drink}'")
		finds := func(named string, args ...any) map[string]bool {
			words := map[string]bool{}
			for _, term := range explain(t, b, "lion zebra coffee", named, args...).Query.Terms {
				words[term.Term] = term.Finds
			}
			return words
		}
		some, all := map[string]bool{"lion": true, "zebra": true, "coffe": false}, map[string]bool{"lion": true, "zebra": true, "coffe": true}
		require.Equal(t, some, finds(""))
		require.Empty(t, explain(t, b, "lion zebra coffee", "").Hits[2:])
		for _, filter := range []string{
			"p_tags => '{drink}'", "p_categories => '{other}'", "p_memory_types => '{semantic}'", "p_since => '2000-01-01'", "p_until => '2100-01-01'",
			"p_min_importance => 0.01",
		} {
			require.Equal(t, all, finds(", "+filter), filter)
		}
		require.Equal(t, "coffee for two", explain(t, b, "lion zebra coffee", ", p_tags => '{drink}'").Hits[0].Content)
		b.preset(t, "busy")
		require.Equal(t, some, finds(""))
		b.exec(t, "UPDATE hippocampus.retention_policies SET model = 'strength' WHERE app_name = $1", b.AppName)
		require.Equal(t, all, finds(""))
	})

	t.Run("TheTimeThatTheSearchLooksAt", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.remember(t, "We bought a kettle")
		require.NotNil(t, explain(t, b, "What did we buy today?", "").Query.Time)
		b.evidence(t, `{"time": 0}`)
		require.Nil(t, explain(t, b, "What did we buy today?", "").Query.Time)
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.refuses(t, "HC001", "p_user_id is null", "SELECT hippocampus.explain_search(NULL, 'a', 'tea')")
		b.refuses(t, "HC009", "p_limit is 1001", "SELECT hippocampus.explain_search('u', 'a', 'tea', p_limit => 1001)")
		b.refuses(t, "HC009", "p_profile is 'best'", "SELECT hippocampus.explain_search('u', 'a', 'tea', p_profile => 'best')")
		require.Empty(t, explain(t, b, "", "").Hits)
		b.exec(t, "SELECT hippocampus.explain_search('u', 'a', NULL)")
	})
}

func TestSearchThreads(t *testing.T) {
	t.Parallel()
	b := setup(t)
	filler := strings.Repeat(" and so on and so forth", 4)
	mine := b.talk(t, "user: My cello needs new strings"+filler, "agent: Try a luthier"+filler)
	theirs := b.talk(t, "user: What can one learn"+filler, "agent: The cello, the cello strings, the new cello"+filler, "agent: cello strings"+filler)
	b.talk(t, "user: hello", "agent: hello")
	b.remember(t, "cello") // of no conversation
	hits := rowsOf[db.ThreadHit](t, b, "SELECT * FROM hippocampus.search_threads($1, $2, 'Does my cello need new strings?', p_now => $3)",
		b.UserID, b.AppName, b.now)
	require.Len(t, hits, 2)
	require.Equal(t, []uuid.UUID{mine, theirs}, []uuid.UUID{hits[0].ThreadID, hits[1].ThreadID}) // each once; what I said of mine
	require.Contains(t, hits[0].Content, "user: My cello")
	require.EqualValues(t, 2, hits[0].Memories)
	require.Len(t, list[uuid.UUID](t, b, "SELECT thread_id FROM hippocampus.search_threads($1, $2, 'cello', p_limit => 1)", b.UserID, b.AppName), 1)
	require.Empty(t, list[uuid.UUID](t, b, "SELECT thread_id FROM hippocampus.search_threads($1, $2, 'cello', p_until => '2001-01-01')", b.UserID, b.AppName))
	require.Empty(t, list[uuid.UUID](t, b, "SELECT thread_id FROM hippocampus.search_threads($1 || 'x', $2, 'cello')", b.UserID, b.AppName))
	b.refuses(t, "HC009", "p_limit is 201", "SELECT hippocampus.search_threads('u', 'a', 'cello', p_limit => 201)")
	b.refuses(t, "HC001", "p_app_name is null", "SELECT hippocampus.search_threads('u', NULL, 'cello')")
}

func TestTryRanking(t *testing.T) {
	t.Parallel()
	// Conversations whose turns share a direction, or words, or both; it finds which arm knows.
	for _, c := range []struct {
		name       string
		words      bool
		directions bool
	}{{"words", true, false}, {"vectors", false, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			for talk := range 8 {
				turns := make([]string, 4)
				for i := range turns {
					turns[i] = fmt.Sprintf("Ida: %s number%d%d of quite some length it is", map[bool]string{true: fmt.Sprintf("topic%d", talk), false: "thing"}[c.words], talk, i)
				}
				b.talk(t, turns...)
			}
			for i, id := range list[uuid.UUID](t, b, "SELECT id FROM hippocampus.memories WHERE user_id = $1 ORDER BY thread_id, from_seq", b.UserID) {
				direction := make([]float32, 40)
				direction[i] = 1
				if c.directions {
					direction[i], direction[32+i/4] = 0.3, 1
				}
				b.exec(t, "SELECT hippocampus.put_embedding($1, $2, 'memory', $3, $4)", b.UserID, b.AppName, id, vector(direction...))
			}
			trials := rowsOf[db.RankingTrial](t, b, "SELECT * FROM hippocampus.try_ranking($1, $2)", b.UserID, b.AppName)
			require.Len(t, trials, 21)
			require.EqualValues(t, 32, trials[0].Queries)
			first, last := trials[0], trials[20]
			if c.words {
				require.Equal(t, 1.0, first.Mrr)
				require.Greater(t, first.Recall10, last.Recall10)
			} else {
				require.Equal(t, 1.0, last.Mrr)
				require.Greater(t, last.Recall10, first.Recall10)
				require.Zero(t, last.RecallError) // the same of each
			}
		})
	}
	b := setup(t)
	require.Empty(t, rowsOf[db.RankingTrial](t, b, "SELECT * FROM hippocampus.try_ranking($1, $2)", b.UserID, b.AppName))
	b.refuses(t, "HC009", "p_sample is 0", "SELECT hippocampus.try_ranking('u', 'a', 0)")
}
