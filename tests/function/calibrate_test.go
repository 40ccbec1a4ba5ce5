package function_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
)

func (b *testBundle) distribution(t *testing.T, named string) map[string]db.SimilarityDistribution {
	t.Helper()
	all := map[string]db.SimilarityDistribution{}
	for _, d := range rowsOf[db.SimilarityDistribution](t, b,
		"SELECT * FROM hippocampus.similarity_distribution($1, $2"+named+")", b.UserID, b.AppName) {
		all[d.PairsOf] = d
	}
	return all
}

func TestSimilarityDistribution(t *testing.T) {
	t.Parallel()

	t.Run("Facts", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for i, value := range []string{"Berlin", "Lisbon"} {
			b.exec(t, "SELECT hippocampus.upsert_fact($1, $2, 'profile', 'city', to_jsonb($3::text), p_embedding => $4, p_now => $5)",
				b.UserID, b.AppName, value, []any{vector(1), at(0.8)}[i], b.now.Add(day))
		}
		b.exec(t, "SELECT hippocampus.upsert_fact($1, $2, 'profile', 'pet', '\"cat\"', p_embedding => $3)", b.UserID, b.AppName, vector(0, 0, 1))
		got := b.distribution(t, ", 'fact'")
		require.Len(t, got, 3)
		require.EqualValues(t, 3, got["random"].Pairs)
		require.EqualValues(t, 1, got["same_key"].Pairs)
		require.InDelta(t, 0.8, got["same_key"].P50, 1e-3)
		require.InDelta(t, 0, got["random"].P50, 1e-3)
		require.NotContains(t, got, "adjacent")
	})

	t.Run("Memories", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		require.Empty(t, b.distribution(t, ""))
		thread := b.thread(t)
		for i, v := range []any{vector(1), at(0.9), vector(0, 0, 1), nil} {
			b.rememberWith(t, fmt.Sprintf("memory %d", i), `p_memory_type => 'episodic', p_thread_id => $5, p_from_seq => $6, p_to_seq => $6,
				p_embedding => $7`, thread, i+1, v)
		}
		got := b.distribution(t, "")
		require.EqualValues(t, 3, got["random"].Pairs) // the one without a vector has no part in it
		require.EqualValues(t, 3, got["nearest"].Pairs)
		require.EqualValues(t, 2, got["adjacent"].Pairs)
		require.InDelta(t, 0.9, got["nearest"].P90, 1e-3)
		require.InDelta(t, 0.45, got["adjacent"].P50, 1e-3)
		require.EqualValues(t, 1, b.distribution(t, ", p_sample => 2")["random"].Pairs)
		require.Empty(t, b.distribution(t, ", 'memory', 'chunk'"))
		b.UserID += "x"
		require.Empty(t, b.distribution(t, ""))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, c := range []struct{ code, message, args string }{
			{"HC001", "p_user_id is null", "NULL, 'a'"},
			{"HC009", "p_source is 'event'", "'u', 'a', 'event'"},
			{"HC009", "p_source is null", "'u', 'a', NULL"},
			{"HC009", "p_other is 'x'", "'u', 'a', 'fact', 'x'"},
			{"HC009", "p_sample is 1", "'u', 'a', p_sample => 1"},
			{"HC009", "p_sample is 100000", "'u', 'a', p_sample => 100000"},
		} {
			b.refuses(t, c.code, c.message, "SELECT hippocampus.similarity_distribution("+c.args+")")
		}
	})
}
