package worker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/worker"
)

func TestConsolidate(t *testing.T) {
	t.Parallel()

	t.Run("Full", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		thread := b.thread(t, "Hello there", "color=red", "", "color=blue", "food=sushi")
		id := b.enqueue(t, b.pool, thread, worker.FullConsolidation)
		b.start(t)
		job := b.wait(t, id, "completed")
		r := result(t, job)
		require.Equal(t, 5, r.Events)
		require.Equal(t, 4, r.Episodes)
		require.Equal(t, 3, r.Facts)
		require.Equal(t, 1, r.Insights)
		require.Equal(t, 1, r.Summaries)
		require.Len(t, r.FactIDs, 3)
		require.Equal(t, worker.Usage{InputTokens: 30, OutputTokens: 5}, r.Usage)
		require.Equal(t, map[string]string{"embedder": "script/v1", "reflector": "script/chat", "summarizer": "script/chat"}, r.Models)
		require.EqualValues(t, 1, *job.FromSeq)
		require.EqualValues(t, 5, *job.ToSeq)
		require.EqualValues(t, 1, job.Attempts)
		require.Nil(t, job.Error)
		b.drain(t)
		require.Equal(t, 9, b.count(t, `SELECT count(*) FROM hippocampus.embeddings`))
		require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.embedding_queue`))
		require.Equal(t, 9, b.count(t, `SELECT count(*) FROM hippocampus.memory_sources WHERE job_id = $1`, id))
	})
}
