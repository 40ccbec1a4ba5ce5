package worker_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// large makes a tenant with many memories.
func (b *bundle) large(t *testing.T, user string, rows int) {
	t.Helper()
	texts := make([]string, rows)
	for i := range texts {
		texts[i] = fmt.Sprintf("%s remembers thing %d", user, i)
	}
	all := vectors(texts)
	batch := &pgx.Batch{}
	for i, text := range texts {
		batch.Queue(`SELECT hippocampus.remember($1, 'app', $2, p_embedding => $3, p_embedding_model => 'script/v1')`,
			user, text, pgvector.NewVector(all[i]))
	}
	require.NoError(t, b.pool.SendBatch(t.Context(), batch).Close())
	// who may be large is told by what is folded, and some hundred rows may not be
	_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.fold_terms($1, 'app')`, user)
	require.NoError(t, err)
	_, err = b.pool.Exec(t.Context(), `ANALYZE hippocampus.embeddings`)
	require.NoError(t, err)
}

// index runs an index job to its end.
func (b *bundle) index(t *testing.T) {
	t.Helper()
	inserted, err := b.Client().Insert(t.Context(), worker.IndexArgs{}, nil)
	require.NoError(t, err)
	b.eventually(t, "the index job", func() bool {
		return b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE id = $1 AND state = 'completed'`, inserted.Job.ID) == 1 &&
			b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE kind = 'index_vectors' AND state = 'running'`) == 0
	})
}

func (b *bundle) indexes(t *testing.T) []string {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), `SELECT c.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE i.indrelid = 'hippocampus.embeddings'::regclass AND i.indisvalid AND c.relname LIKE 'embeddings\_hnsw\_%' ORDER BY 1`)
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return names
}

// nearest are the rows that a search by vector finds.
func (b *bundle) nearest(t *testing.T, user, text string, exact bool) []uuid.UUID {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), `SELECT row_id FROM hippocampus._vector_hits($1, 'app', 'memory', $2, 20, $3)`,
		user, pgvector.NewVector(vectors([]string{text})[0]), exact)
	require.NoError(t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	require.NoError(t, err)
	return ids
}

func TestIndex(t *testing.T) {
	t.Parallel()

	t.Run("BuildsUsesDrops", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		_, err := b.pool.Exec(t.Context(), `UPDATE hippocampus.settings SET value = '500' WHERE key = 'exact_search_rows'`)
		require.NoError(t, err)
		const odd = `o'neil "q" \ %I` // a name is data
		b.large(t, odd, 1500)
		b.large(t, "small", 400)
		b.start(t)
		b.index(t)
		names := b.indexes(t)
		require.Len(t, names, 1)
		require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.vector_indexes WHERE status = 'ready' AND user_id = $1`, odd))

		// The query in _vector_hits uses it.
		tx, err := b.pool.Begin(t.Context())
		require.NoError(t, err)
		defer tx.Rollback(t.Context())
		var statement string
		err = tx.QueryRow(t.Context(), `SELECT format('EXPLAIN SELECT e.row_id FROM hippocampus.embeddings e
			WHERE e.user_id = %1$L AND e.app_name = ''app'' AND e.source = ''memory'' AND e.generation = 1
			ORDER BY e.embedding::public.halfvec(64) OPERATOR(public.<#>) %2$L LIMIT 20', $1::text,
			(SELECT embedding FROM hippocampus.embeddings LIMIT 1))`, odd).Scan(&statement)
		require.NoError(t, err)
		rows, err := tx.Query(t.Context(), statement)
		require.NoError(t, err)
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.Contains(t, strings.Join(plan, "\n"), "Index Scan using "+names[0])
		require.NoError(t, tx.Rollback(t.Context())) // or the index could not be dropped

		// It finds no fewer rows than the exact search, and nearly the same.
		for i := range 20 {
			text := fmt.Sprintf("question %d", i)
			near, exact := b.nearest(t, odd, text, false), b.nearest(t, odd, text, true)
			require.Len(t, near, 20)
			require.Len(t, exact, 20)
			same := 0
			for _, id := range near {
				for _, other := range exact {
					if id == other {
						same++
					}
				}
			}
			require.GreaterOrEqual(t, same, 15)
		}

		// Nothing to do: it stays. Shrunk below half: it goes.
		b.index(t)
		require.Equal(t, names, b.indexes(t))
		_, err = b.pool.Exec(t.Context(), `SELECT hippocampus.forget($1, 'app', ARRAY(
			SELECT id FROM hippocampus.memories WHERE user_id = $1 ORDER BY id LIMIT 1300))`, odd)
		require.NoError(t, err)
		require.Len(t, b.nearest(t, odd, "question", false), 20)
		b.index(t)
		require.Empty(t, b.indexes(t))
		require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.vector_indexes`))
		require.Len(t, b.nearest(t, odd, "question", false), 20)
	})

	t.Run("MendsWhatAKilledWorkerLeft", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		_, err := b.pool.Exec(t.Context(), `UPDATE hippocampus.settings SET value = '100' WHERE key = 'exact_search_rows'`)
		require.NoError(t, err)
		b.large(t, "ada", 200)
		b.large(t, "bob", 200)
		b.start(t)
		b.index(t)
		names := b.indexes(t)
		require.Len(t, names, 2)
		// One is not valid, the other was finished but not marked, and one belongs to nobody.
		_, err = b.pool.Exec(t.Context(), `UPDATE pg_index SET indisvalid = false WHERE indexrelid = ('hippocampus.' || $1)::regclass`, names[0])
		require.NoError(t, err)
		_, err = b.pool.Exec(t.Context(), `UPDATE hippocampus.vector_indexes SET status = 'building'`)
		require.NoError(t, err)
		_, err = b.pool.Exec(t.Context(), `CREATE INDEX embeddings_hnsw_stray ON hippocampus.embeddings (dimension)`)
		require.NoError(t, err)
		b.index(t)
		require.Equal(t, names, b.indexes(t))
		require.Equal(t, 2, b.count(t, `SELECT count(*) FROM hippocampus.vector_indexes WHERE status = 'ready'`))
		// A tenant that is gone takes its index along.
		_, err = b.pool.Exec(t.Context(), `SELECT hippocampus.forget('bob', 'app', ARRAY(SELECT id FROM hippocampus.memories WHERE user_id = 'bob'))`)
		require.NoError(t, err)
		b.index(t)
		require.Len(t, b.indexes(t), 1)
		// So does a user that a client forgets, who has no right to drop it: it is empty, and names the user until then.
		named := func() int {
			return b.count(t, `SELECT (SELECT count(*) FROM hippocampus.vector_indexes WHERE user_id = 'ada') + (SELECT count(*) FROM pg_index i
				WHERE i.indrelid = 'hippocampus.embeddings'::regclass AND pg_get_expr(i.indpred, i.indrelid) LIKE '%ada%')`)
		}
		_, err = dbtest.As(t, b.pool, "hippocampus_service", nil).Exec(t.Context(), `SELECT hippocampus.forget_user('ada', 'app')`)
		require.NoError(t, err)
		require.Equal(t, 2, named())
		b.index(t)
		require.Zero(t, named())
	})
}

func (b *bundle) run(t *testing.T, sql string) {
	t.Helper()
	_, err := b.pool.Exec(t.Context(), sql)
	require.NoError(t, err)
}

func TestSigns(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, nil)
	b.large(t, "ada", 1200)
	b.start(t)
	b.index(t)
	require.Empty(t, b.indexes(t)) // not so large
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.embedding_models WHERE signs_rows = 1200 AND signs_recall > 0.5`))

	// What is found by signs is nearly what is found by all vectors, and no less of it.
	b.run(t, `UPDATE hippocampus.embedding_models SET signs_recall = 1`)
	same := 0
	for i := range 20 {
		text := fmt.Sprintf("question %d", i)
		near, exact := b.nearest(t, "ada", text, false), b.nearest(t, "ada", text, true)
		require.Len(t, near, 20)
		for _, id := range near {
			if slices.Contains(exact, id) {
				same++
			}
		}
	}
	require.Greater(t, same, 200) // of 400

	// A model that leaves every dimension on one side of zero has no use for them: every search is exact.
	b.run(t, `UPDATE hippocampus.embeddings e SET embedding = (SELECT array_agg(-abs(x) - 0.001)::public.vector::public.halfvec
		FROM unnest(e.embedding::public.vector::real[]) x)`)
	b.run(t, `UPDATE hippocampus.embedding_models SET signs_rows = 600`)
	b.index(t)
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.embedding_models WHERE signs_rows = 1200 AND signs_recall < 0.5`))
	for i := range 5 {
		text := fmt.Sprintf("question %d", i)
		require.Equal(t, b.nearest(t, "ada", text, true), b.nearest(t, "ada", text, false))
	}
}

// A generation has the indexes of large tenants, and the signs of others measured, without waiting for the clock: from
// the last row that is queued on, and after a switch by SQL.
func TestIndexOfANewGeneration(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, nil)
	b.run(t, `SELECT hippocampus.put_setting('*', 'exact_search_rows', '1200')`)
	b.large(t, "ada", 1300)
	b.large(t, "bob", 1100)
	b.start(t)
	b.index(t)
	require.Len(t, b.indexes(t), 1)
	indexed := func(generation int32) bool {
		return b.count(t, `SELECT count(*) FROM hippocampus.vector_indexes i JOIN hippocampus.embedding_models g ON g.generation = i.generation
			WHERE i.generation = $1 AND i.user_id = 'ada' AND i.status = 'ready' AND g.signs_recall IS NOT NULL`, generation) == 1
	}
	next := begin(t, b.pool, b.script)
	b.whole(t, next)
	require.NoError(t, b.IndexVectors(t.Context(), true)) // whatever another job is at
	require.True(t, indexed(next))

	// One that was lost, by whatever, is built when the switch asks.
	b.run(t, `DELETE FROM hippocampus.vector_indexes WHERE generation = 2`)
	switchTo(t, b.pool, next)
	b.eventually(t, "the index of the generation that serves", func() bool { return indexed(next) })
	require.Positive(t, b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE kind = 'index_vectors' AND args @> '{"wait": true}'`))
}

func TestIndexMemory(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, nil)
	_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.put_setting('*', 'exact_search_rows', '50')`)
	require.NoError(t, err)
	b.large(t, "ada", 80)
	b.start(t)
	b.index(t)
	names := b.indexes(t)
	require.Len(t, names, 1)
	node := func() int {
		return b.count(t, `SELECT c.relfilenode::bigint FROM pg_class c WHERE c.relname = $1`, names[0])
	}
	before := node()
	svc, err := service.New(dbtest.As(t, b.pool, "hippocampus_service", nil), nil)
	require.NoError(t, err)
	var told []service.IndexProgress
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	last, err := svc.IndexMemory(ctx, func(p service.IndexProgress) { told = append(told, p) })
	require.NoError(t, err)
	require.Equal(t, service.IndexProgress{Done: 1, Total: 1}, *last)
	require.Equal(t, *last, told[len(told)-1])
	require.Equal(t, names, b.indexes(t))
	require.NotEqual(t, before, node()) // built anew
}
