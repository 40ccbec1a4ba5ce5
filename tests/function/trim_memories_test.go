package function_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTrimMemories(t *testing.T) {
	t.Parallel()
	trim := func(t *testing.T, b *testBundle, named string) int32 {
		t.Helper()
		return get[int32](t, b, "SELECT hippocampus.trim_memories(p_app_name => $1, p_now => $2"+named+")", b.AppName, b.now)
	}
	left := func(t *testing.T, b *testBundle, user string) []string {
		t.Helper()
		return list[string](t, b, "SELECT m.content FROM hippocampus.memories m WHERE m.user_id = $1 ORDER BY 1", user)
	}
	capped := func(t *testing.T, b *testBundle, most int, kind string) {
		t.Helper()
		b.exec(t, "INSERT INTO hippocampus.retention_policies (app_name, memory_type, max_per_user) VALUES ($1, $2, $3)", b.AppName, kind, most)
	}

	t.Run("DefaultIsWide", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.remember(t, "tea")
		require.Zero(t, trim(t, b, ""))
	})

	t.Run("LowestScoresGo", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		capped(t, b, 3, "*")
		for i := range 6 {
			b.now = b.now.Add(time.Minute)
			b.rememberWith(t, fmt.Sprintf("memory %d", i), "p_initial_score => $5", []float64{0.9, 0.2, 0.5, 0.2, 0.8, 0.2}[i])
		}
		b.exec(t, "SELECT hippocampus.remember($1, $2, 'another''s', p_initial_score => 0)", b.UserID+"x", b.AppName)
		require.Equal(t, int32(3), trim(t, b, ""))
		require.Equal(t, []string{"memory 0", "memory 2", "memory 4"}, left(t, b, b.UserID))
		require.Len(t, left(t, b, b.UserID+"x"), 1)
		require.Zero(t, trim(t, b, ""))
	})

	t.Run("OfEachPolicyItsOwn", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		capped(t, b, 2, "*")
		capped(t, b, 1, "episodic")
		for i := range 3 {
			b.rememberWith(t, fmt.Sprintf("episode %d", i), "p_memory_type => 'episodic', p_initial_score => $5", float64(9-i)/10)
			b.rememberWith(t, fmt.Sprintf("meaning %d", i), "p_initial_score => $5", float64(5-i)/10)
		}
		require.Equal(t, int32(3), trim(t, b, ""))
		require.Equal(t, []string{"episode 0", "meaning 0", "meaning 1"}, left(t, b, b.UserID))
	})

	t.Run("SameIdOfAnotherTenantStays", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		capped(t, b, 1, "*")
		low := b.rememberWith(t, "low", "p_initial_score => 0")
		b.rememberWith(t, "high", "p_initial_score => 1")
		b.exec(t, `INSERT INTO hippocampus.memories (id, user_id, app_name, content, content_hash, token_count)
			VALUES ($1, $2, $3, 'another''s', sha256('x'), 1)`, low, b.UserID+"x", b.AppName)
		require.Equal(t, int32(1), trim(t, b, ""))
		require.Equal(t, []string{"high"}, left(t, b, b.UserID))
		require.Equal(t, []string{"another's"}, left(t, b, b.UserID+"x"))
	})

	t.Run("SomeAtATime", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		capped(t, b, 1, "*")
		b.memories(t, 6, "memory ", "semantic")
		require.Equal(t, []int32{2, 2, 1, 0}, []int32{
			trim(t, b, ", p_limit => 2"), trim(t, b, ", p_limit => 2"), trim(t, b, ", p_limit => 2"), trim(t, b, ", p_limit => 2"),
		})
		b.refuses(t, "HC009", "p_limit is 0", "SELECT hippocampus.trim_memories(0)")
	})
}
