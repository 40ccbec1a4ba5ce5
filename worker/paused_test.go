package worker_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
	"github.com/hippocampus-memory/hippocampus/worker"
)

func TestPausedQueue(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	b := setup(t, &script{}, func(c *worker.Config) { c.Metrics = registry })
	paused := func() (sum float64) {
		families, err := registry.Gather()
		require.NoError(t, err)
		for _, family := range families {
			if family.GetName() == "hippocampus_worker_queue_paused" {
				for _, metric := range family.GetMetric() {
					sum += metric.GetGauge().GetValue()
				}
			}
		}
		return sum
	}
	// One that was paused before the start is known.
	_, err := b.pool.Exec(t.Context(), `INSERT INTO hippocampus.river_queue (name, updated_at, paused_at) VALUES ('consolidation', now(), now())`)
	require.NoError(t, err)
	b.start(t)
	require.ErrorContains(t, b.Ready(t.Context()), "paused, so that jobs wait: consolidation; to resume all: ")
	require.InDelta(t, 1, paused(), 0)

	nobody := dbtest.As(t, b.pool, "", nil) // any login may notify
	notify := func(action string) {
		_, err := nobody.Exec(t.Context(), "SELECT pg_notify('hippocampus.river_control', jsonb_build_object('action', $1::text, 'queue', '*')::text)", action)
		require.NoError(t, err)
	}
	notify("resume")
	b.eventually(t, "the queue to be resumed", func() bool { return b.Ready(t.Context()) == nil })
	notify("pause")
	b.eventually(t, "all queues to be paused", func() bool {
		err := b.Ready(t.Context())
		return err != nil && strings.Contains(err.Error(), "consolidation") && strings.Contains(err.Error(), "maintenance, sleep, sweep; ")
	})
	require.GreaterOrEqual(t, paused(), 3.0)
	notify("resume")
	b.eventually(t, "the queues to be resumed", func() bool { return paused() == 0 })
	require.NoError(t, b.Ready(t.Context()))
}

// A queue that is paused while a worker has not taken it yet is known as soon as it has.
func TestPausedQueueIsTakenLater(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, often)
	b.remember(t, "one")
	b.start(t)
	b.drain(t)
	require.NoError(t, b.Stop(t.Context()))
	next := shorter()
	arrived, letGo := next.holding()
	begin(t, b.pool, next)
	other := setupOn(t, b.pool, next, often)
	other.start(t)
	receive(t, "the embedder", arrived)
	_, err := b.pool.Exec(t.Context(), `INSERT INTO hippocampus.river_queue (name, updated_at, paused_at) VALUES ('consolidation', now(), now())
		ON CONFLICT (name) DO UPDATE SET paused_at = excluded.paused_at`)
	require.NoError(t, err)
	require.NoError(t, other.Ready(t.Context())) // it does not take from that
	letGo()
	b.eventually(t, "the queue to be taken", func() bool {
		err := other.Ready(t.Context())
		return err != nil && strings.Contains(err.Error(), "paused, so that jobs wait: consolidation; ")
	})
}
