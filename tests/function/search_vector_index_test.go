package function_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pgvector/pgvector-go"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// A large tenant has an index of its own, which is built here in the transaction's place.
func TestSearchWithVectorIndex(t *testing.T) {
	t.Parallel()
	pool := dbtest.DB(t)
	ctx := t.Context()
	conn, err := pool.Acquire(ctx)
	require.NoError(t, err)
	defer conn.Release()
	tx, err := conn.Begin(ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Commit(ctx)) }()
	b := &testBundle{Tx: tx, Scope: db.Scope{UserID: "large", AppName: "app"}, now: dbtest.Epoch}
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 300 {
		values := make([]float32, dbtest.DefaultDimension)
		for j := range values {
			values[j] = float32(random.NormFloat64())
		}
		b.rememberWith(t, fmt.Sprintf("memory %d", i), "p_embedding => $5", pgvector.NewVector(values))
	}
	query := vector(1, 0.5, -0.5)
	search := func() []string {
		return b.found(t, "", "p_query_embedding => $5, p_limit => 20", query)
	}
	exact := search()
	b.exec(t, `CREATE INDEX large_hnsw ON hippocampus.embeddings USING hnsw ((embedding::public.halfvec(64)) public.halfvec_ip_ops)
		WHERE user_id = 'large' AND app_name = 'app' AND source = 'memory' AND generation = 1`)
	b.exec(t, `INSERT INTO hippocampus.vector_indexes (generation, user_id, app_name, source, status, index_name)
		VALUES (1, 'large', 'app', 'memory', 'ready', 'large_hnsw')`)
	b.exec(t, "SET LOCAL hnsw.ef_search = 77")
	b.exec(t, "SET LOCAL enable_seqscan = off")
	require.Equal(t, exact, search())
	require.Equal(t, []string{"77", "off"}, []string{
		get[string](t, b, "SELECT current_setting('hnsw.ef_search')"), get[string](t, b, "SELECT current_setting('hnsw.iterative_scan')"),
	}) // a search leaves no trace in its transaction

	// A filter that leaves one of three hundred is exact, index or not.
	b.exec(t, "UPDATE hippocampus.memories SET tags = '{x}' WHERE content = 'memory 123'")
	require.Equal(t, []string{"memory 123"}, b.found(t, "", "p_query_embedding => $5, p_tags => '{x}'", query))
	b.exec(t, "UPDATE hippocampus.memories SET superseded_by = gen_random_uuid() WHERE content <> ALL ($1)", exact[:3])
	require.Equal(t, exact[:3], search())
}
