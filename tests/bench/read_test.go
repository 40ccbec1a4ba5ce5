package bench

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	pgvector "github.com/pgvector/pgvector-go"
	"github.com/stretchr/testify/require"
)

// BenchmarkSearchTop10 is search_memory over 100,000 memories, embedding given.
func BenchmarkSearchTop10(b *testing.B) {
	pool, d := largeTenant(b)
	ctx := context.Background()
	var l latencies
	for b.Loop() {
		query, vector := d.text(), pgvector.NewVector(d.vector())
		l.time(func() {
			rows := 0
			err := pool.QueryRow(ctx, "SELECT count(*) FROM hippocampus.search_memory('large', 'bench', $1, $2)", query, vector).Scan(&rows)
			require.NoError(b, err)
			require.Equal(b, 10, rows)
		})
	}
	l.report(b)
}

// BenchmarkSearchTop10Words is the same without an embedding.
func BenchmarkSearchTop10Words(b *testing.B) {
	pool, d := largeTenant(b)
	ctx := context.Background()
	var l latencies
	for b.Loop() {
		query := d.text()
		l.time(func() {
			_, err := pool.Exec(ctx, "SELECT * FROM hippocampus.search_memory('large', 'bench', $1)", query)
			require.NoError(b, err)
		})
	}
	l.report(b)
}

// BenchmarkSearchesOfFour is four clients that search those 100,000 at once, by words and a vector and by a vector
// alone. It reports searches a second.
func BenchmarkSearchesOfFour(b *testing.B) {
	for _, way := range []struct {
		name  string
		words bool
	}{{"WordsAndVector", true}, {"Vector", false}} {
		b.Run(way.name, func(b *testing.B) {
			pool, d := largeTenant(b)
			ctx := context.Background()
			type question struct {
				text   string
				vector pgvector.Vector
			}
			questions := make([]question, 200)
			for i := range questions {
				questions[i].vector = pgvector.NewVector(d.vector())
				if way.words {
					questions[i].text = d.text()
				}
			}
			var next atomic.Int64
			b.SetParallelism(max(1, 4/runtime.GOMAXPROCS(0)))
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					q := questions[next.Add(1)%int64(len(questions))]
					_, err := pool.Exec(ctx, "SELECT * FROM hippocampus.search_memory('large', 'bench', $1, $2)", q.text, q.vector)
					if err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "searches/s")
		})
	}
}

// BenchmarkTimeSlice is memories_in_time_slice over 100,000 memories: a day, 50 rows.
func BenchmarkTimeSlice(b *testing.B) {
	pool, d := largeTenant(b)
	ctx := context.Background()
	var l latencies
	for b.Loop() {
		daysAgo := d.random.IntN(250)
		l.time(func() {
			_, err := pool.Exec(ctx, `SELECT * FROM hippocampus.memories_in_time_slice('large', 'bench',
				now() - make_interval(days => $1), now() - make_interval(days => $1 - 1))`, daysAgo)
			require.NoError(b, err)
		})
	}
	l.report(b)
}

// BenchmarkContextWindow8000 is get_context_window with 8,000 tokens over 100,000 memories.
func BenchmarkContextWindow8000(b *testing.B) {
	pool, d := largeTenant(b)
	ctx := context.Background()
	var l latencies
	for b.Loop() {
		query, vector := d.text(), pgvector.NewVector(d.vector())
		l.time(func() {
			_, err := pool.Exec(ctx, "SELECT * FROM hippocampus.get_context_window('large', 'bench', $1, $2, 8000)", query, vector)
			require.NoError(b, err)
		})
	}
	l.report(b)
}
