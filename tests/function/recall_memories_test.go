package function_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
)

func (b *testBundle) recallMemories(t *testing.T, query, named string, args ...any) []db.RecallHit {
	t.Helper()
	return rowsOf[db.RecallHit](t, b, "SELECT * FROM hippocampus.recall_memories($1, $2, $3, p_now => $4"+named+")",
		append([]any{b.UserID, b.AppName, query, b.now}, args...)...)
}

func TestRecallMemories(t *testing.T) {
	t.Parallel()

	t.Run("FactsAndMemoriesInOneList", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		memory := b.rememberWith(t, "We talked about green tea", "p_embedding => $5, p_intensity => 0.5", vector(1))
		b.exec(t, "SELECT hippocampus.upsert_fact($1, $2, 'preference', 'drink', '\"green tea\"', p_embedding => $3, p_intensity => 0.9, p_now => $4)",
			b.UserID, b.AppName, vector(1), b.now)
		got := b.recallMemories(t, "tea", ", p_query_embedding => $5", vector(1))
		require.Len(t, got, 2)
		require.Equal(t, "fact", got[0].Source)
		relevance := get[float64](t, b, "SELECT relevance FROM hippocampus.search_memory($1, $2, 'tea', $3, p_now => $4)", b.UserID, b.AppName, vector(1), b.now)
		require.InDelta(t, relevance, got[0].Similarity, 1e-6)
		require.InDelta(t, 0.6*relevance+0.3*0.9+0.1, got[0].Score, 1e-6)
		require.Equal(t, memory, got[1].ID)
		require.InDelta(t, relevance, got[1].Similarity, 1e-6)
		require.InDelta(t, 0.6*relevance+0.3*0.5+0.1, got[1].Score, 1e-6)
		require.Len(t, b.recallMemories(t, "tea", ", p_limit => 1"), 1)
		require.Len(t, b.recallMemories(t, "", ""), 2)
		require.Empty(t, b.recallMemories(t, "quarks", ""))
	})

	t.Run("WithoutWhatHasFadedOrEnded", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.exec(t, "INSERT INTO hippocampus.retention_policies (app_name, model) VALUES ($1, 'strength')", b.AppName)
		b.remember(t, "faded tea")
		b.exec(t, "SELECT hippocampus.upsert_fact($1, $2, 'preference', 'drink', '\"tea\"', p_now => $3)", b.UserID, b.AppName, b.now)
		b.now = b.now.Add(200 * day)
		require.Empty(t, b.recallMemories(t, "tea", ""))
		b.exec(t, "SELECT hippocampus.upsert_fact($1, $2, 'preference', 'drink', '\"tea with milk\"', p_now => $3)", b.UserID, b.AppName, b.now)
		got := b.recallMemories(t, "tea", "")
		require.Len(t, got, 1)
		require.Contains(t, got[0].Content, "milk")
	})

	// The words of a fact are few, and not those of the question.
	t.Run("AFactIsAsNearAsWhatTellsItsKey", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.now = get[time.Time](t, b, "SELECT now()")
		thread, _ := b.said(t, "Good morning! I live in Berlin.", "I have moved to Lisbon.", "Shall we live on coffee?")
		for seq, text := range []string{"Good morning! I live in Berlin.", "I have moved to Lisbon.", "Shall we live on coffee?"} {
			b.rememberWith(t, text, "p_memory_type => 'episodic', p_thread_id => $5, p_from_seq => $6", thread, seq+1)
		}
		b.drawnFact(t, "location", "Berlin", thread, 1, 1)
		b.drawnFact(t, "location", "Lisbon", thread, 2, 2)
		b.drawnFact(t, "pet", "a dog named Bento", thread, 2, 2)
		got := b.recallMemories(t, "where in Berlin do I live?", ", p_limit => 2")
		require.Equal(t, []string{"location: Lisbon", "Good morning! I live in Berlin."}, []string{got[0].Content, got[1].Content})
		require.InDelta(t, got[1].Similarity, got[0].Similarity, 1e-9)
		require.Equal(t, "pet: a dog named Bento", b.recallMemories(t, "dog", ", p_limit => 1")[0].Content)
	})

	// A model that sees little must not hide what the words find.
	t.Run("ByWordsAndMeaning", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for i, value := range []string{"I live in Tallinn", "The office is green", "Coffee at nine"} {
			b.exec(t, "SELECT hippocampus.upsert_fact($1, $2, 'custom', $3, to_jsonb($4::text), p_embedding => $5, p_now => $6)",
				b.UserID, b.AppName, "note "+string(rune('a'+i)), value, vector(float32(i+1), 1), b.now)
		}
		got := b.recallMemories(t, "where does she live?", ", p_query_embedding => $5", vector(3, 1))
		require.Contains(t, got[0].Content, "Tallinn")
		require.Less(t, got[0].Similarity, 1.0)
	})

	t.Run("WithoutAVectorMeaningIsTheShareOfTheWords", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, value := range []string{"tea", "tea and scones at the Savoy with the whole family"} {
			b.exec(t, "SELECT hippocampus.upsert_fact($1, $2, 'custom', left($3, 4), to_jsonb($3::text), p_now => $4)", b.UserID, b.AppName, value, b.now)
		}
		ranking, author := map[string]float64{"text": 0.55, "vector": 0.35}, 0.25
		b.exec(t, "SELECT hippocampus.put_setting($1, 'ranking', $2)", b.AppName, toJSON(t, ranking))
		b.evidence(t, fmt.Sprintf(`{"author": %g}`, author))
		words := list[float64](t, b, `SELECT e.own / max(e.own) OVER () FROM hippocampus._evidence($1, $2, 'fact', hippocampus._query_terms($2, 'tea'), NULL) e
			ORDER BY 1 DESC`, b.UserID, b.AppName)
		require.Less(t, words[1], 0.9)
		for _, query := range []any{nil, vector(1)} {
			got := b.recallMemories(t, "tea", ", p_query_embedding => $5", query)
			require.Len(t, got, 2)
			for i, hit := range got {
				require.InDelta(t, words[i]*(ranking["text"]*(1-author)+ranking["vector"])/(ranking["text"]+ranking["vector"]), hit.Similarity, 1e-9)
			}
		}
	})

	t.Run("AUseStrengthensFactsToo", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.exec(t, "SELECT hippocampus.upsert_fact($1, $2, 'preference', 'drink', '\"tea\"', p_intensity => 0.99, p_now => $3)", b.UserID, b.AppName, b.now)
		require.Equal(t, int32(1), get[int32](t, b, `SELECT hippocampus.record_access($1, $2,
			ARRAY(SELECT f.id FROM hippocampus.facts f WHERE f.user_id = $1), $3)`, b.UserID, b.AppName, b.now))
		require.Equal(t, "1 1", get[string](t, b, "SELECT concat_ws(' ', f.access_count, f.running_intensity) FROM hippocampus.facts f WHERE f.user_id = $1", b.UserID))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.refuses(t, "HC001", "p_user_id is null", "SELECT * FROM hippocampus.recall_memories(NULL, 'a', 'x')")
		b.refuses(t, "HC009", "p_limit is -1", "SELECT * FROM hippocampus.recall_memories('u', 'a', 'x', p_limit => -1)")
	})
}
