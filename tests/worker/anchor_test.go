package worker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// TestKillRebuild kills a worker in the middle of a rebuild of the anchor index. The index of before
// serves, and another worker makes the next one.
func TestKillRebuild(t *testing.T) {
	t.Parallel()
	pool := dbtest.DB(t, dbtest.Durable())
	exec := func(query string) {
		t.Helper()
		_, err := pool.Exec(t.Context(), query)
		require.NoError(t, err, query)
	}
	store := func(path, heading string) {
		exec(`SELECT hippocampus.put_document('ada', 'app', '` + path + `', '[{"content": "It restarts a container.", "start_line": 1, "heading": "` + heading + `"}]')`)
		eventually(t, "the vectors", func() bool { return count(t, pool, `SELECT count(*) FROM hippocampus.embedding_queue`) == 0 })
	}
	rebuild := func() {
		exec(`INSERT INTO hippocampus.river_job (kind, args, queue, max_attempts) VALUES ('rebuild_anchors', '{}', 'maintenance', 5)`)
	}
	serving := func() int { return count(t, pool, `SELECT serving FROM hippocampus.anchor_indexes`) }
	found := func(term string) int {
		return count(t, pool, `SELECT count(*) FROM hippocampus.lookup_anchors('ada', 'app', $1)`, term)
	}
	// the server's vectors tell the length of a text, and all are near enough
	exec(`SELECT hippocampus.put_setting('*', 'anchors/openai/text-embedding-3-small', '{"theta": 0}')`)
	s := newServer(t)
	p := start(t, pool, s)
	store("a.md", "Liveness probe")
	rebuild()
	eventually(t, "the first index", func() bool { return serving() == 1 })
	require.Equal(t, 1, found("liveness probe"))

	store("b.md", "Readiness gate")
	s.hold(opEmbed)
	rebuild()
	receive(t, "the new anchors at the embedder", s.arrived)
	require.Equal(t, 2, count(t, pool, `SELECT building FROM hippocampus.anchor_indexes`))
	p.kill(t)
	waitGone(t, pool)
	require.Equal(t, 1, serving())
	require.Equal(t, 2, found("liveness probe")) // with what was stored since
	require.Zero(t, found("readiness gate"))

	s.release(opEmbed)
	// Neither the lease nor the job's time limit, which is four hours, has run out.
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM hippocampus.anchor_indexes WHERE lease_until > now()`))
	exec(`UPDATE hippocampus.river_leader SET elected_at = elected_at - interval '1 hour', expires_at = expires_at - interval '1 hour'`)
	exec(`UPDATE hippocampus.river_job SET attempted_at = attempted_at - interval '1 minute' WHERE kind = 'rebuild_anchors' AND state = 'running'`)
	start(t, pool, s)
	eventually(t, "the next index", func() bool { return serving() > 1 })
	require.Equal(t, 2, count(t, pool, `SELECT attempt FROM hippocampus.river_job WHERE kind = 'rebuild_anchors' ORDER BY id DESC LIMIT 1`))
	require.Equal(t, 2, found("readiness gate"))
	require.Zero(t, count(t, pool, `SELECT count(*) FROM hippocampus.anchor_chunks c, hippocampus.anchor_indexes i WHERE c.generation <> i.serving`))
}
