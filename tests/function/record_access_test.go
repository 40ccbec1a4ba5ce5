package function_test

import (
	"math"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestRecordAccess(t *testing.T) {
	t.Parallel()
	access := func(t *testing.T, b *testBundle, ids ...uuid.UUID) int32 {
		t.Helper()
		return get[int32](t, b, "SELECT hippocampus.record_access($1, $2, $3, $4)", b.UserID, b.AppName, ids, b.now)
	}

	t.Run("CountsEachOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := b.remember(t, "tea")
		require.Equal(t, int32(1), access(t, b, id, id, uuid.New()))
		require.Equal(t, int32(1), b.memory(t, id).AccessCount)
	})

	t.Run("GrowsByTwoHundredths", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := b.rememberWith(t, "tea", "p_intensity => 0.97")
		b.now = b.now.Add(day)
		access(t, b, id)
		m := b.memory(t, id)
		require.InDelta(t, 0.97, m.RunningIntensity, 1e-6) // under Ebbinghaus's curve intensity says nothing
		require.True(t, b.now.Equal(m.LastAccessedAt))
		require.InDelta(t, (1+math.Ln2)/5, m.RetentionScore, 1e-9)
		b.exec(t, "UPDATE hippocampus.memories SET access_count = 0 WHERE id = $1", id)
		b.exec(t, "INSERT INTO hippocampus.retention_policies (app_name, memory_type, model) VALUES ($1, 'semantic', 'strength')", b.AppName)
		access(t, b, id)
		m = b.memory(t, id)
		require.InDelta(t, 0.99, m.RunningIntensity, 1e-6)
		require.InDelta(t, 0.99, m.RetentionScore, 1e-6)
		access(t, b, id)
		access(t, b, id)
		m = b.memory(t, id)
		require.Equal(t, float32(1), m.RunningIntensity) // never above 1
		require.Equal(t, int32(3), m.AccessCount)
	})

	t.Run("NeverGoesBackInTime", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := b.remember(t, "tea")
		b.now = b.now.Add(-day)
		access(t, b, id)
		require.True(t, b.now.Add(day).Equal(b.memory(t, id).LastAccessedAt))
	})

	t.Run("NothingIsNothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := b.remember(t, "tea")
		require.Zero(t, access(t, b))
		require.Zero(t, get[int32](t, b, "SELECT hippocampus.record_access($1, $2, NULL)", b.UserID, b.AppName))
		require.Zero(t, b.memory(t, id).AccessCount)
	})

	t.Run("OfThisTenantOnly", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := b.remember(t, "tea")
		require.Zero(t, get[int32](t, b, "SELECT hippocampus.record_access($1, $2, $3)", b.UserID+"x", b.AppName, []uuid.UUID{id}))
		require.Zero(t, get[int32](t, b, "SELECT hippocampus.record_access($1, $2, $3)", b.UserID, b.AppName+"x", []uuid.UUID{id}))
		b.refuses(t, "HC001", "p_user_id is null", "SELECT hippocampus.record_access(NULL, $1, '{}')", b.AppName)
	})
}
