package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/assembler"
	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/offline"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// started is a summarizer that says when it is asked: the moment a worker begins on a conversation.
type started struct {
	model.Summarizer
	at chan time.Time
}

func (s *started) Summarize(ctx context.Context, c *model.Conversation) (*model.Summary, error) {
	select {
	case s.at <- time.Now():
	default:
	}
	return s.Summarizer.Summarize(ctx, c)
}

// newWorker makes a worker with the offline models, which says when it begins on a conversation.
func newWorker(b *testing.B, pool *pgxpool.Pool) (*started, *worker.Worker) {
	b.Helper()
	models, err := offline.Open(context.Background(), &offline.Config{Dimension: dimension})
	require.NoError(b, err)
	watch := &started{Summarizer: models.Summarizer, at: make(chan time.Time, 1)}
	watched := *models
	watched.Summarizer = watch
	counter, err := assembler.NewCounter("")
	require.NoError(b, err)
	w, err := worker.New(pool, &worker.Config{Counter: counter, Models: &watched})
	require.NoError(b, err)
	return watch, w
}

// startWorker runs a worker for the benchmark's time.
func startWorker(b *testing.B, pool *pgxpool.Pool) *started {
	b.Helper()
	ctx := context.Background()
	watch, w := newWorker(b, pool)
	require.NoError(b, w.Start(ctx))
	b.Cleanup(func() { require.NoError(b, w.Stop(ctx)) })
	return watch
}

// indexVectors runs a worker until the large tenant has its vector index.
func indexVectors(b *testing.B, pool *pgxpool.Pool) {
	b.Helper()
	ctx := context.Background()
	_, w := newWorker(b, pool)
	require.NoError(b, w.Start(ctx))
	require.Eventually(b, func() bool {
		ready := false
		require.NoError(b, pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM hippocampus.vector_indexes WHERE status = 'ready')").Scan(&ready))
		return ready
	}, 20*time.Minute, time.Second)
	require.NoError(b, w.Stop(ctx))
}

// BenchmarkEnqueueToStart is the time from the commit that enqueued a consolidation to the moment
// the worker's model is asked: notification, fetch and reading the conversation included.
func BenchmarkEnqueueToStart(b *testing.B) {
	pool := dbtest.DB(b, dbtest.Dimension(dimension), dbtest.Durable())
	ctx, d := context.Background(), newData()
	watch := startWorker(b, pool)
	var l latencies
	for i := 0; b.Loop(); i++ {
		thread := newThread(ctx, b, pool, fmt.Sprintf("user-%d", i))
		tx, err := pool.Begin(ctx)
		require.NoError(b, err)
		_, err = tx.Exec(ctx, `SELECT hippocampus.append_event($1, 'user', 'message', jsonb_build_object('text', $2::text),
			p_token_count => 40)`, thread, d.text())
		require.NoError(b, err)
		_, err = tx.Exec(ctx, "SELECT hippocampus.enqueue_consolidation($1)", thread)
		require.NoError(b, err)
		require.NoError(b, tx.Commit(ctx))
		committed := time.Now()
		l = append(l, (<-watch.at).Sub(committed))
	}
	l.report(b)
}

// BenchmarkConsolidation is a whole consolidation of 50 turns with the offline models, from the
// commit to its completion: summary, 50 episodes, facts, vectors, provenance, one transaction.
func BenchmarkConsolidation(b *testing.B) {
	pool := dbtest.DB(b, dbtest.Dimension(dimension), dbtest.Durable())
	ctx, d := context.Background(), newData()
	startWorker(b, pool)
	var l latencies
	for i := 0; b.Loop(); i++ {
		thread := newThread(ctx, b, pool, fmt.Sprintf("user-%d", i))
		events := make([]map[string]any, 50)
		for n := range events {
			events[n] = map[string]any{"author": "user", "content": map[string]string{"text": d.text()}, "token_count": 40}
		}
		raw, err := json.Marshal(events)
		require.NoError(b, err)
		_, err = pool.Exec(ctx, "SELECT count(*) FROM hippocampus.append_events($1, $2)", thread, raw)
		require.NoError(b, err)
		l.time(func() {
			var id string
			require.NoError(b, pool.QueryRow(ctx, "SELECT hippocampus.enqueue_consolidation($1)::text", thread).Scan(&id))
			require.Eventually(b, func() bool {
				status := ""
				require.NoError(b, pool.QueryRow(ctx, "SELECT status FROM hippocampus.consolidation_jobs WHERE id = $1", id).Scan(&status))
				return status == "completed"
			}, time.Minute, time.Millisecond)
		})
	}
	l.report(b)
}

// BenchmarkCleanupWhileWriting deletes what is worth little of 1,000,000 memories, batch by batch,
// while a client goes on to append. It reports rows swept a second and the appends' latency.
func BenchmarkCleanupWhileWriting(b *testing.B) {
	const rows = 1_000_000
	pool := dbtest.DB(b, dbtest.Dimension(dimension), dbtest.Durable())
	ctx, d := context.Background(), newData()
	_, err := pool.Exec(ctx, `
		INSERT INTO hippocampus.memories (user_id, app_name, memory_type, content, content_hash, token_count, token_count_exact,
		    access_count, created_at, last_accessed_at)
		SELECT 'user-' || n % 1000, 'bench', 'semantic', 'w' || n || 'x', sha256(n::text::bytea), 3, true, n % 7, a.at, a.at
		FROM generate_series(1, $1) n CROSS JOIN LATERAL (SELECT now() - make_interval(days => n % 40) AS at) a`, rows)
	require.NoError(b, err)
	_, err = pool.Exec(ctx, "TRUNCATE hippocampus.embedding_queue")
	require.NoError(b, err)
	_, err = pool.Exec(ctx, "VACUUM ANALYZE hippocampus.memories, hippocampus.row_terms, hippocampus.postings")
	require.NoError(b, err)
	thread := newThread(ctx, b, pool, "writer")
	for b.Loop() {
		var (
			appends latencies
			deleted int
			writer  sync.WaitGroup
		)
		done := make(chan struct{})
		writer.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				appends.time(func() {
					_, err := pool.Exec(ctx, `SELECT hippocampus.append_event($1, 'user', 'message', jsonb_build_object('text', $2::text),
						p_token_count => 40)`, thread, d.text())
					require.NoError(b, err)
				})
			}
		})
		start := time.Now()
		for more := true; more; {
			var n int
			require.NoError(b, pool.QueryRow(ctx, `SELECT s.deleted, s.scanned = 5000 FROM hippocampus.sweep_faded(5000) s`).Scan(&n, &more))
			deleted += n
		}
		took := time.Since(start)
		close(done)
		writer.Wait()
		b.ReportMetric(rows/took.Seconds(), "rows/s")
		b.ReportMetric(float64(deleted), "deleted")
		appends.report(b)
	}
}
