package worker_test

import (
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/worker"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	b := setup(t, &script{summarize: func(_ context.Context, c *model.Conversation) (*model.Summary, error) {
		if c.Turns[0].Text == "bad" {
			return nil, &model.Error{Kind: model.KindRejected}
		}
		return summary(c), nil
	}}, func(c *worker.Config) { c.Metrics = registry })
	good := b.enqueue(t, b.pool, b.thread(t, "color=red"), worker.FullConsolidation)
	bad := b.enqueue(t, b.pool, b.thread(t, "bad"), worker.FastReplay)
	b.oneAttempt(t, bad)
	b.start(t)
	b.wait(t, good, "completed")
	b.wait(t, bad, "failed")
	b.drain(t)
	_, err := b.pool.Exec(t.Context(), `INSERT INTO hippocampus.river_job (attempt, kind, args, max_attempts, queue, state, finalized_at, metadata)
		VALUES (1, 'embed', '{}', 25, 'sweep', 'discarded', now(), '{"unique_key_conflict": "scheduler_discarded"}')`)
	require.NoError(t, err)
	var got map[string]float64
	b.eventually(t, "the end of the jobs, which is after their commit", func() bool {
		got = gather(t, registry)
		return got["hippocampus_worker_job_seconds consolidate completed"]+got["hippocampus_worker_job_seconds consolidate failed"] == 2
	})
	require.NotContains(t, got, "hippocampus_river_jobs embed discarded") // it gave way to its double
	for key, want := range map[string]float64{
		"hippocampus_consolidation_jobs failed":                    1,
		"hippocampus_consolidation_jobs pending":                   0,
		"hippocampus_embedding_queue_rows false":                   0,
		"hippocampus_river_jobs consolidate discarded":             1,
		"hippocampus_worker_consolidated_rows_total episode":       1,
		"hippocampus_worker_consolidated_rows_total fact":          1,
		"hippocampus_worker_job_seconds consolidate completed":     1,
		"hippocampus_worker_job_seconds consolidate failed":        1,
		"hippocampus_worker_model_call_seconds embed ok":           1,
		"hippocampus_worker_model_call_seconds reflect ok":         1,
		"hippocampus_worker_model_call_seconds summarize ok":       1,
		"hippocampus_worker_model_call_seconds summarize rejected": 1,
		"hippocampus_worker_queue_paused consolidation":            0,
		"hippocampus_worker_scrape_errors":                         0,
	} {
		require.Contains(t, got, key)
		require.InDelta(t, want, got[key], 0, key)
	}
}

// gather gives every metric by its name and the values of its labels.
func gather(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	got := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			key := family.GetName()
			for _, label := range metric.GetLabel() {
				key += " " + label.GetValue()
			}
			got[key] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return got
}
