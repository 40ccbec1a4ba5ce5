package worker_test

import (
	"encoding/json"
	"testing"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/worker"
)

func TestRetention(t *testing.T) {
	t.Parallel()

	// memories makes so many that are old and worth little, and as many that are new.
	memories := func(t *testing.T, b *bundle, n int) {
		t.Helper()
		_, err := b.pool.Exec(t.Context(), `
			SELECT hippocampus.remember('ada', 'app', 'old ' || i, p_now => now() - interval '90 days'),
				hippocampus.remember('bob', 'app', 'new ' || i)
			FROM generate_series(1, $1) i`, n)
		require.NoError(t, err)
	}
	run := func(t *testing.T, b *bundle, id int64) map[string]any {
		t.Helper()
		var metadata []byte
		b.eventually(t, "the sweep", func() bool {
			var state string
			err := b.pool.QueryRow(t.Context(), `SELECT state::text, metadata FROM hippocampus.river_job WHERE id = $1`, id).Scan(&state, &metadata)
			require.NoError(t, err)
			return state == "completed"
		})
		var m map[string]map[string]any
		require.NoError(t, json.Unmarshal(metadata, &m))
		return m["progress"]
	}

	t.Run("Empty", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		b.start(t)
		inserted, err := b.Client().Insert(t.Context(), worker.RetentionArgs{}, nil)
		require.NoError(t, err)
		require.Equal(t, map[string]any{"scanned": 0.0, "refreshed": 0.0, "deleted": 0.0, "swept": true}, run(t, b, inserted.Job.ID))
	})

	t.Run("Resumes", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, func(c *worker.Config) { c.RetentionBatch = 5 })
		memories(t, b, 10)
		b.start(t)
		b.drain(t) // what counts tokens or embeds holds rows, which a sweep passes over until the next one
		// as a worker left it that was killed after the sweep, before it trimmed
		_, err := b.pool.Exec(t.Context(), `UPDATE hippocampus.retention_policies SET max_per_user = 6`)
		require.NoError(t, err)
		inserted, err := b.Client().Insert(t.Context(), worker.RetentionArgs{}, &river.InsertOpts{Metadata: []byte(`{"progress": {
			"swept": true, "scanned": 10, "refreshed": 3, "deleted": 7}}`)})
		require.NoError(t, err)
		require.Equal(t, map[string]any{"scanned": 10.0, "refreshed": 3.0, "deleted": 15.0, "swept": true}, run(t, b, inserted.Job.ID))
		require.Equal(t, 12, b.count(t, `SELECT count(*) FROM hippocampus.memories`))
	})

	t.Run("ForgetsWhatHasExpired", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, func(c *worker.Config) { c.RetentionBatch = 2 })
		_, err := b.pool.Exec(t.Context(), `
			SELECT hippocampus.store_put('ada', 'app', '{notes}', 'old' || i, '{"text": "tea"}', p_ttl => '1 hour', p_now => now() - interval '1 day')
			FROM generate_series(1, 5) i
			UNION ALL SELECT hippocampus.store_put('ada', 'app', '{notes}', 'new', '{"text": "tea"}', p_ttl => '1 hour')
			UNION ALL SELECT hippocampus.store_put('bob', 'app', '{notes}', 'for ever', '{"text": "tea"}', p_now => now() - interval '1 day')`)
		require.NoError(t, err)
		b.start(t)
		b.drain(t)
		require.Equal(t, 7, b.count(t, `SELECT count(*) FROM hippocampus.embeddings WHERE source = 'store'`))
		inserted, err := b.Client().Insert(t.Context(), worker.RetentionArgs{}, nil)
		require.NoError(t, err)
		require.Equal(t, map[string]any{"scanned": 0.0, "refreshed": 0.0, "deleted": 5.0, "swept": true}, run(t, b, inserted.Job.ID))
		require.Equal(t, 2, b.count(t, `SELECT count(*) FROM hippocampus.store_items`))
		require.Equal(t, 2, b.count(t, `SELECT count(*) FROM hippocampus.embeddings WHERE source = 'store'`))
	})

	t.Run("Sweeps", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, func(c *worker.Config) { c.RetentionBatch = 3 })
		memories(t, b, 10)
		_, err := b.pool.Exec(t.Context(), `UPDATE hippocampus.retention_policies SET max_per_user = 6`)
		require.NoError(t, err)
		b.start(t)
		b.drain(t) // rows that are just being embedded are left for the next sweep
		inserted, err := b.Client().Insert(t.Context(), worker.RetentionArgs{}, nil)
		require.NoError(t, err)
		again, err := b.Client().Insert(t.Context(), worker.RetentionArgs{}, nil)
		require.NoError(t, err)
		progress := run(t, b, inserted.Job.ID)
		require.InDelta(t, 10, progress["scanned"], 0) // nobody looked at what is new
		require.InDelta(t, 14, progress["deleted"], 0) // ten that have faded, and four of bob's that are too many
		require.Equal(t, 6, b.count(t, `SELECT count(*) FROM hippocampus.memories WHERE user_id = 'bob'`))
		require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.memories WHERE user_id = 'ada'`))
		if again.UniqueSkippedAsDuplicate {
			require.Equal(t, inserted.Job.ID, again.Job.ID)
		}
	})
}
