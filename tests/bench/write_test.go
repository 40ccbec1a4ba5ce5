package bench

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func newThread(ctx context.Context, t testing.TB, pool *pgxpool.Pool, userID string) (id string) {
	t.Helper()
	require.NoError(t, pool.QueryRow(ctx, "SELECT hippocampus.create_thread($1, 'bench')::text", userID).Scan(&id))
	return id
}

// BenchmarkAppendEvent is one durable append_event a transaction.
func BenchmarkAppendEvent(b *testing.B) {
	pool := dbtest.DB(b, dbtest.Dimension(dimension), dbtest.Durable())
	ctx, d := context.Background(), newData()
	thread := newThread(ctx, b, pool, "writer")
	var l latencies
	for b.Loop() {
		text := d.text()
		l.time(func() {
			_, err := pool.Exec(ctx, `SELECT hippocampus.append_event($1, 'user', 'message', jsonb_build_object('text', $2::text),
				p_token_count => 40)`, thread, text)
			require.NoError(b, err)
		})
	}
	l.report(b)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkAppendEventPolicy is one urgent event a transaction where the app's policy is enabled, and
// in turns one where it is not: times is what the policy's trigger costs.
func BenchmarkAppendEventPolicy(b *testing.B) {
	pool := dbtest.DB(b, dbtest.Dimension(dimension), dbtest.Durable())
	ctx, d := context.Background(), newData()
	_, err := pool.Exec(ctx, `SELECT hippocampus.put_consolidation_policy('policy', '{"enabled": true}')`)
	require.NoError(b, err)
	var times [2]latencies
	threads := [2]string{newThread(ctx, b, pool, "writer")}
	require.NoError(b, pool.QueryRow(ctx, "SELECT hippocampus.create_thread('writer', 'policy')::text").Scan(&threads[1]))
	for b.Loop() {
		for i, thread := range threads {
			text := d.text()
			times[i].time(func() {
				_, err := pool.Exec(ctx, `SELECT hippocampus.append_event($1, 'user', 'message', jsonb_build_object('text', $2::text),
					p_importance => 0.9, p_token_count => 40)`, thread, text)
				require.NoError(b, err)
			})
		}
	}
	times[1].report(b)
	slices.Sort(times[0])
	b.ReportMetric(float64(times[1][len(times[1])/2])/float64(times[0][len(times[0])/2]), "times")
}

// BenchmarkAppendEventParallel is the same from 16 clients, each with a thread of its own.
func BenchmarkAppendEventParallel(b *testing.B) {
	pool := dbtest.DB(b, dbtest.Dimension(dimension), dbtest.Durable(), dbtest.MaxConns(16))
	ctx := context.Background()
	texts := newData()
	var sample [64]string
	for i := range sample {
		sample[i] = texts.text()
	}
	var clients atomic.Int64
	b.SetParallelism(8) // times GOMAXPROCS, 2 here
	b.RunParallel(func(pb *testing.PB) {
		thread := newThread(ctx, b, pool, fmt.Sprintf("writer-%d", clients.Add(1)))
		for i := 0; pb.Next(); i++ {
			_, err := pool.Exec(ctx, `SELECT hippocampus.append_event($1, 'user', 'message', jsonb_build_object('text', $2::text),
				p_token_count => 40)`, thread, sample[i%len(sample)])
			require.NoError(b, err)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkAppendEvents100 is 100 events in one append_events.
func BenchmarkAppendEvents100(b *testing.B) {
	pool := dbtest.DB(b, dbtest.Dimension(dimension), dbtest.Durable())
	ctx, d := context.Background(), newData()
	thread := newThread(ctx, b, pool, "writer")
	texts := make([]string, 100)
	for i := range texts {
		texts[i] = d.text()
	}
	var l latencies
	for b.Loop() {
		l.time(func() {
			_, err := pool.Exec(ctx, `SELECT count(*) FROM hippocampus.append_events($1, (SELECT jsonb_agg(jsonb_build_object(
				'author', 'user', 'content', jsonb_build_object('text', t), 'token_count', 40)) FROM unnest($2::text[]) t))`, thread, texts)
			require.NoError(b, err)
		})
	}
	l.report(b)
	b.ReportMetric(float64(100*b.N)/b.Elapsed().Seconds(), "events/s")
}
