package function_test

import (
	"testing"

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
		require.InDelta(t, 0.6+0.3*0.9+0.1, got[0].Score, 1e-6)
		require.Equal(t, memory, got[1].ID)
		require.InDelta(t, 0.6+0.3*0.5+0.1, got[1].Score, 1e-6)
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
