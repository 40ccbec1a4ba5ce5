package worker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/worker"
)

func TestPolicy(t *testing.T) {
	t.Parallel()
	policy := func(t *testing.T, b *bundle, fields string) {
		t.Helper()
		_, err := b.pool.Exec(t.Context(), "SELECT hippocampus.put_consolidation_policy('app', $1)", fields)
		require.NoError(t, err)
	}

	t.Run("AnApplicationThatOnlyAppends", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, func(c *worker.Config) { c.PolicyInterval = 50 * time.Millisecond })
		policy(t, b, `{"enabled": true, "min_interval_seconds": 0, "idle_seconds": 1}`)
		b.start(t)
		thread := b.thread(t)
		for _, e := range []struct {
			text       string
			importance float64
		}{{"lunch", 0.4}, {"we chose Postgres", 0.8}, {"the disk is full", 0.9}, {"small talk", 0.59}} {
			_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.append_event($1, 'user', 'message', to_jsonb($2::text), p_importance => $3)`,
				thread, e.text, e.importance)
			require.NoError(t, err)
		}
		b.eventually(t, "all events to be consolidated", func() bool {
			return b.count(t, "SELECT least(replayed_seq, reflected_seq) FROM hippocampus.threads WHERE id = $1", thread) == 4
		})
		require.Equal(t, 2, b.count(t, "SELECT count(*) FROM hippocampus.memories WHERE thread_id = $1 AND memory_type = 'episodic' AND importance >= 0.6", thread))
		require.Equal(t, 2, b.count(t, "SELECT count(*) FROM hippocampus.memories WHERE thread_id = $1 AND memory_type = 'episodic'", thread))
		require.Equal(t, 2, b.count(t, "SELECT sum((result ->> 'kept')::int) FROM hippocampus.consolidation_jobs"))
		require.Equal(t, 4, b.count(t, "SELECT sum((result ->> 'events')::int) FROM hippocampus.consolidation_jobs"))
		b.eventually(t, "its note to be gone", func() bool {
			return b.count(t, "SELECT count(*) FROM hippocampus.unconsolidated_threads") == 0
		})
	})

	t.Run("WithoutOneAllBecomesEpisodes", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		policy(t, b, `{"min_importance": 0.7}`)
		thread := b.thread(t, "one", "two")
		b.start(t)
		b.wait(t, b.enqueue(t, b.pool, thread, worker.FastReplay), "completed")
		require.Equal(t, 2, b.count(t, "SELECT count(*) FROM hippocampus.memories WHERE thread_id = $1 AND memory_type = 'episodic'", thread))
	})
}
