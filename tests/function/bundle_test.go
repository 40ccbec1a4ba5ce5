// Package function_test holds the tests of the SQL functions, a file each or a small family: what a
// client of SQL sees, with the errors it gets. They run as the superuser of the test server, in a
// transaction that is rolled back; what tenants may do is tested in tests/tenant, what sessions do
// to each other in tests/concurrency.
package function_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pgvector/pgvector-go"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// testBundle is a transaction with a tenant of its own and a clock that stands still.
type testBundle struct {
	pgx.Tx
	db.Scope
	now time.Time
}

func setup(t *testing.T) *testBundle {
	t.Helper()
	return &testBundle{Tx: dbtest.Tx(t), Scope: dbtest.NewScope(t), now: dbtest.Epoch}
}

// setupAlone is for a test that changes what holds for the whole deployment, which others must not see, nor wait for.
func setupAlone(t *testing.T) *testBundle {
	t.Helper()
	tx, err := dbtest.DB(t).Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) })
	return &testBundle{Tx: tx, Scope: dbtest.NewScope(t), now: dbtest.Epoch}
}

// exec runs a statement.
func (b *testBundle) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := b.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// get gives the one value of a query.
func get[T any](t *testing.T, q db.DBTX, sql string, args ...any) T {
	t.Helper()
	rows, err := q.Query(t.Context(), sql, args...)
	require.NoError(t, err)
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	require.NoError(t, err)
	return v
}

// list gives the values of a query of one column.
func list[T any](t *testing.T, q db.DBTX, sql string, args ...any) []T {
	t.Helper()
	rows, err := q.Query(t.Context(), sql, args...)
	require.NoError(t, err)
	v, err := pgx.CollectRows(rows, pgx.RowTo[T])
	require.NoError(t, err)
	return v
}

// rowsOf gives the rows of a query whose columns are among the fields of a struct.
func rowsOf[T any](t *testing.T, q db.DBTX, sql string, args ...any) []T {
	t.Helper()
	rows, err := q.Query(t.Context(), sql, args...)
	require.NoError(t, err)
	v, err := pgx.CollectRows(rows, pgx.RowToStructByNameLax[T])
	require.NoError(t, err)
	return v
}

// rowOf gives the one row of a query.
func rowOf[T any](t *testing.T, q db.DBTX, sql string, args ...any) T {
	t.Helper()
	rows := rowsOf[T](t, q, sql, args...)
	require.Len(t, rows, 1)
	return rows[0]
}

// refuses runs a statement that must fail with a SQLSTATE and, where it is one of ours, with a
// message that names the value and a hint, which it gives. What came before it stays.
func (b *testBundle) refuses(t *testing.T, code, message, sql string, args ...any) (hint string) {
	t.Helper()
	attempt, err := b.Begin(t.Context())
	require.NoError(t, err)
	_, err = attempt.Exec(t.Context(), sql, args...)
	require.NoError(t, attempt.Rollback(t.Context()))
	require.Error(t, err, "%s %v", sql, args)
	var pgErr *pgconn.PgError
	require.ErrorAs(t, err, &pgErr)
	require.Equal(t, code, pgErr.Code, "%v", err)
	require.Contains(t, pgErr.Message, message)
	if code[:2] == "HC" {
		require.NotEmpty(t, pgErr.Hint, "%v", err)
	}
	return pgErr.Hint
}

// counted are the tables whose rows a refused statement must not have changed.
var counted = []string{
	"app_state", "consolidation_jobs", "embedding_queue", "embeddings", "events", "experience_skips", "experiences", "facts",
	"graph_entities", "graph_observations", "graph_relations", "instructions", "memories", "memory_blocks", "memory_sources", "named_memories", "posting_totals", "postings", "river_job",
	"row_terms", "store_items", "threads", "unindexed_rows", "user_state",
}

// counts gives the number of rows that this transaction sees in each table.
func (b *testBundle) counts(t *testing.T) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	for _, table := range counted {
		counts[table] = get[int64](t, b, "SELECT count(*) FROM hippocampus."+table)
	}
	return counts
}

// thread makes a thread.
func (b *testBundle) thread(t *testing.T) uuid.UUID {
	t.Helper()
	return get[uuid.UUID](t, b, "SELECT hippocampus.create_thread($1, $2)", b.UserID, b.AppName)
}

// remember stores a semantic memory at the bundle's time.
func (b *testBundle) remember(t *testing.T, content string) uuid.UUID {
	t.Helper()
	return b.rememberWith(t, content, "")
}

// rememberWith stores a memory with more named arguments, such as "p_tags => '{a}'".
func (b *testBundle) rememberWith(t *testing.T, content, named string, args ...any) uuid.UUID {
	t.Helper()
	if named != "" {
		named = ", " + named
	}
	return get[uuid.UUID](t, b, "SELECT hippocampus.remember($1, $2, $3, p_now => $4"+named+")",
		append([]any{b.UserID, b.AppName, content, b.now}, args...)...)
}

// vector gives an embedding of the test database's dimension whose first values are given.
func vector(first ...float32) pgvector.Vector {
	values := make([]float32, dbtest.DefaultDimension)
	copy(values, first)
	return pgvector.NewVector(values)
}

// toJSON is a value as JSON, for an argument of type jsonb.
func toJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// said is a batch of n events.
func said(n int) []map[string]any {
	events := make([]map[string]any, n)
	for i := range events {
		events[i] = map[string]any{"author": "user", "content": map[string]any{"text": fmt.Sprintf("said %d", i+1)}}
	}
	return events
}

const day = 24 * time.Hour
