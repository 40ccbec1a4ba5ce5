package worker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// TestKillReindex kills a worker, and its session, while it builds a vector index anew. The one of before serves, and
// another worker takes the job up, long before its time limit of hours, with nothing left of what was half built.
func TestKillReindex(t *testing.T) {
	t.Parallel()
	pool := dbtest.DB(t, dbtest.Durable())
	exec := func(query string) {
		t.Helper()
		_, err := pool.Exec(t.Context(), query)
		require.NoError(t, err, query)
	}
	const of = `FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE i.indrelid = 'hippocampus.embeddings'::regclass AND c.relname LIKE 'embeddings\_hnsw\_%'`
	indexes := func() (valid, broken int) {
		t.Helper()
		return count(t, pool, "SELECT count(*) "+of+" AND i.indisvalid"), count(t, pool, "SELECT count(*) "+of+" AND NOT i.indisvalid")
	}
	reindexed := func(jobs int) {
		t.Helper()
		eventually(t, "the index", func() bool {
			return count(t, pool, `SELECT count(*) FROM hippocampus.river_job WHERE kind = 'index_vectors' AND state = 'completed'
				AND metadata -> 'progress' ->> 'done' = metadata -> 'progress' ->> 'total' AND args -> 'reindex' = 'true'`) == jobs
		})
	}
	exec(`UPDATE hippocampus.settings SET value = '100' WHERE key = 'exact_search_rows'`)
	exec(`SELECT hippocampus.remember('ada', 'app', 'sushi ' || i) FROM generate_series(1, 120) i`)
	exec(`SELECT hippocampus.fold_terms('ada', 'app')`) // who may be large is told by what is folded
	s := newServer(t)
	p := start(t, pool, s)
	waitEmbedded(t, pool)
	exec(`SELECT hippocampus.index_memory()`)
	reindexed(1)
	valid, broken := indexes()
	require.Equal(t, []int{1, 0}, []int{valid, broken})
	before := count(t, pool, "SELECT c.relfilenode::bigint "+of)

	// a writer whose transaction is open makes the build wait
	writer, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = writer.Exec(t.Context(), "LOCK TABLE hippocampus.embeddings IN ROW EXCLUSIVE MODE")
	require.NoError(t, err)
	exec(`SELECT hippocampus.index_memory()`)
	const builds = `FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'REINDEX%' AND wait_event_type = 'Lock'`
	eventually(t, "the build to wait", func() bool { return count(t, pool, "SELECT count(*) "+builds) == 1 })
	p.kill(t)
	require.Equal(t, 1, count(t, pool, "SELECT count(*) FROM (SELECT pg_terminate_backend(pid) AS ended "+builds+") e WHERE e.ended"))
	require.NoError(t, writer.Rollback(t.Context()))
	waitGone(t, pool)
	valid, broken = indexes()
	require.Equal(t, []int{1, 1}, []int{valid, broken})
	require.Equal(t, before, count(t, pool, "SELECT c.relfilenode::bigint "+of+" AND i.indisvalid"))
	require.Equal(t, 1, count(t, pool, "SELECT count(*) FROM hippocampus.vector_indexes WHERE status = 'ready'"))

	exec(`UPDATE hippocampus.river_leader SET elected_at = elected_at - interval '1 hour', expires_at = expires_at - interval '1 hour'`)
	exec(`UPDATE hippocampus.river_job SET attempted_at = attempted_at - interval '1 minute' WHERE kind = 'index_vectors' AND state = 'running'`)
	start(t, pool, s)
	reindexed(2)
	require.Equal(t, 2, count(t, pool, `SELECT max(attempt) FROM hippocampus.river_job WHERE kind = 'index_vectors' AND args -> 'reindex' = 'true'`))
	valid, broken = indexes()
	require.Equal(t, []int{1, 0}, []int{valid, broken})
	require.NotEqual(t, before, count(t, pool, "SELECT c.relfilenode::bigint "+of))
	require.Equal(t, 120, count(t, pool, "SELECT count(*) FROM hippocampus.embeddings"))
}
