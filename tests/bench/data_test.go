package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	pgvector "github.com/pgvector/pgvector-go"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// dimension is the deployment's default, so that pages weigh what they weigh in use.
const dimension = 1536

// seed makes every run measure the same data.
const seed = 20261127

// data makes texts with a skewed vocabulary, as natural text has, and vectors in clusters, as
// embeddings have.
type data struct {
	random  *rand.Rand
	zipf    *rand.Zipf
	centres [][]float32
}

func newData() *data {
	random := rand.New(rand.NewPCG(seed, 0))
	d := &data{random: random, zipf: rand.NewZipf(random, 1.1, 8, 30000)}
	for range 200 {
		d.centres = append(d.centres, d.gaussian())
	}
	return d
}

func (d *data) gaussian() []float32 {
	v := make([]float32, dimension)
	for i := range v {
		v[i] = float32(d.random.NormFloat64())
	}
	return v
}

// text has 12 to 30 words; word n of the vocabulary is written wn.
func (d *data) text() string {
	var b strings.Builder
	for i := range 12 + d.random.IntN(19) {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "w%dx", d.zipf.Uint64())
	}
	return b.String()
}

// vector is near one of the centres and of unit length.
func (d *data) vector() []float32 {
	centre := d.centres[d.random.IntN(len(d.centres))]
	v := make([]float32, dimension)
	norm := 0.0
	for i := range v {
		v[i] = centre[i] + 0.7*float32(d.random.NormFloat64())
		norm += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(norm))
	}
	return v
}

// fill gives a tenant rows of memories, with vectors where asked for, and is as a consolidated
// tenant is: counted, embedded, vacuumed.
func fill(ctx context.Context, t testing.TB, pool *pgxpool.Pool, d *data, userID string, rows int, vectors bool) {
	t.Helper()
	const batch = 5000
	for done := 0; done < rows; done += batch {
		n := min(batch, rows-done)
		ids := make([]uuid.UUID, n)
		texts := make([]string, n)
		for i := range n {
			ids[i] = uuid.New()
			texts[i] = fmt.Sprintf("%s n%d", d.text(), done+i)
		}
		if vectors {
			// before the memories, so that they are not queued
			_, err := pool.CopyFrom(ctx, pgx.Identifier{"hippocampus", "embeddings"},
				[]string{"generation", "dimension", "row_id", "user_id", "app_name", "source", "embedding"},
				pgx.CopyFromSlice(n, func(i int) ([]any, error) {
					return []any{1, dimension, ids[i], userID, "bench", "memory", pgvector.NewHalfVector(d.vector())}, nil
				}))
			require.NoError(t, err)
		}
		_, err := pool.Exec(ctx, `
			INSERT INTO hippocampus.memories (id, user_id, app_name, memory_type, content, content_hash, token_count,
			    token_count_exact, created_at, last_accessed_at, occurred_from, occurred_until)
			SELECT r.id, $1, 'bench', 'episodic', r.content, hippocampus._content_hash(r.content), 40, true, a.at, a.at, a.at, a.at
			FROM unnest($2::uuid[], $3::text[]) WITH ORDINALITY AS r (id, content, n)
			CROSS JOIN LATERAL (SELECT now() - make_interval(secs => (r.n + $4) * 250) AS at) a`,
			userID, ids, texts, done)
		require.NoError(t, err)
	}
	_, err := pool.Exec(ctx, "DELETE FROM hippocampus.embedding_queue WHERE user_id = $1", userID)
	require.NoError(t, err)
	_, err = pool.Exec(ctx, "VACUUM ANALYZE hippocampus.memories, hippocampus.row_terms, hippocampus.postings, hippocampus.posting_totals, hippocampus.embeddings")
	require.NoError(t, err)
}

// large is one database with a tenant of 100,000 memories, made by the first benchmark that needs it.
var large = struct {
	sync.Once
	pool *pgxpool.Pool
	data *data
}{}

func largeTenant(b *testing.B) (*pgxpool.Pool, *data) {
	b.Helper()
	large.Do(func() {
		large.pool = dbtest.DB(keep{b}, dbtest.Dimension(dimension), dbtest.Durable())
		large.data = newData()
		fill(context.Background(), b, large.pool, large.data, "large", 100_000, true)
		indexVectors(b, large.pool)
	})
	return large.pool, large.data
}

// keep is a benchmark whose clean-up is put off to the end of the process: the next benchmark
// goes on with its database.
type keep struct{ *testing.B }

var cleanups []func()

func (keep) Cleanup(fn func()) { cleanups = append(cleanups, fn) }

func TestMain(m *testing.M) {
	m.Run()
	for _, fn := range cleanups {
		fn()
	}
}
