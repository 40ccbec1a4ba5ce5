package worker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/worker"
)

func TestRebuildAnchorsJob(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, nil)
	for _, user := range []string{"ada", "bob"} {
		_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.put_document($1, 'app', 'probes.md',
			'[{"content": "restarts a container", "start_line": 1, "heading": "Liveness probe"}]')`, user)
		require.NoError(t, err)
	}
	b.start(t)
	b.drain(t)
	rebuild := func() {
		inserted, err := b.Client().Insert(t.Context(), worker.AnchorArgs{}, nil)
		require.NoError(t, err)
		b.eventually(t, "the rebuild", func() bool {
			return b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE id = $1 AND state = 'completed'`, inserted.Job.ID) == 1
		})
	}
	rebuild()
	require.Equal(t, 2, b.count(t, `SELECT count(*) FROM hippocampus.anchor_indexes WHERE serving = 1 AND building IS NULL`))
	require.Equal(t, 2, b.count(t, `SELECT count(*) FROM hippocampus.anchors a JOIN hippocampus.embeddings e
		ON e.row_id = a.id AND e.source = 'anchor' WHERE a.term = 'Liveness probe' AND a.since = 1 AND a.until = 1`))

	_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.delete_document('bob', 'app', 'probes.md')`)
	require.NoError(t, err)
	rebuild()
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.anchors WHERE until = 2 AND user_id = 'ada'`))
	require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.anchors WHERE user_id = 'bob'`))
}
