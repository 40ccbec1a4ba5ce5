// Package concurrency_test holds what sessions do to each other: who waits for whom, and what is there
// when all have ended. Nothing is timed: a step that must wait is seen waiting in pg_stat_activity,
// and one that must not wait ends while the other session's transaction is still open.
package concurrency_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// testBundle is a database with two tenants of one app.
type testBundle struct {
	*pgxpool.Pool
	ada, bea db.Scope
}

func setup(t *testing.T) *testBundle {
	t.Helper()
	return &testBundle{
		Pool: dbtest.DB(t, dbtest.MaxConns(24)),
		ada:  db.Scope{UserID: "ada", AppName: "app"},
		bea:  db.Scope{UserID: "bea", AppName: "app"},
	}
}

// thread makes a thread.
func (b *testBundle) thread(t *testing.T, scope db.Scope) uuid.UUID {
	t.Helper()
	return get[uuid.UUID](t, b, "SELECT hippocampus.create_thread($1, $2)", scope.UserID, scope.AppName)
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

// together runs something n times at once, and requires that nothing fails.
func together(t *testing.T, n int, run func(ctx context.Context, i int) error) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	for i := range n {
		group.Go(func() error { return run(ctx, i) })
	}
	require.NoError(t, group.Wait())
}

// retried runs a transaction at an isolation level until it does not lose against another one.
func retried(ctx context.Context, pool *pgxpool.Pool, level pgx.TxIsoLevel, run func(tx pgx.Tx) error) error {
	for {
		err := pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: level}, run)
		if !errors.Is(db.Wrap(err), db.ErrConflict) {
			return err
		}
	}
}

// session is one of the sessions of a named-step test.
type session struct {
	t     *testing.T
	name  string
	conn  *pgxpool.Conn
	admin *pgxpool.Pool
	pid   uint32
}

func (b *testBundle) session(t *testing.T, name string) *session {
	t.Helper()
	conn, err := b.Acquire(t.Context())
	require.NoError(t, err)
	s := &session{t: t, name: name, conn: conn, admin: b.Pool, pid: conn.Conn().PgConn().PID()}
	t.Cleanup(func() {
		_, _ = conn.Exec(context.WithoutCancel(t.Context()), "ROLLBACK")
		conn.Release()
	})
	// A statement that waits where it must not fails the test, late but surely.
	_, err = conn.Exec(t.Context(), "SET lock_timeout = '30s'")
	require.NoError(t, err)
	return s
}

// do runs a step that must not wait for long.
func (s *session) do(sql string, args ...any) {
	s.t.Helper()
	_, err := s.conn.Exec(s.t.Context(), sql, args...)
	require.NoError(s.t, err, "%s: %s", s.name, sql)
}

// result is how a step that waited ended.
type result chan error

// waits begins a step that must wait for another session, and returns when it does.
func (s *session) waits(sql string, args ...any) result {
	s.t.Helper()
	done := make(result, 1)
	go func() {
		_, err := s.conn.Exec(s.t.Context(), sql, args...)
		done <- err
	}()
	require.Eventually(s.t, func() bool {
		select {
		case err := <-done:
			done <- err
			return true
		default:
		}
		var waiting bool
		err := s.admin.QueryRow(s.t.Context(),
			"SELECT cardinality(pg_blocking_pids($1)) > 0", s.pid).Scan(&waiting)
		return err == nil && waiting
	}, 30*time.Second, 2*time.Millisecond)
	select {
	case err := <-done:
		require.Fail(s.t, "it did not wait", "%s: %s: %v", s.name, sql, err)
	default:
	}
	return done
}

// succeeds waits for the end of a step that waited.
func (r result) succeeds(t *testing.T) {
	t.Helper()
	require.NoError(t, <-r)
}

// fails waits for the end of a step that waited, which must have a SQLSTATE.
func (r result) fails(t *testing.T, code string) {
	t.Helper()
	var pgErr *pgconn.PgError
	err := <-r
	require.ErrorAs(t, err, &pgErr)
	require.Equal(t, code, pgErr.Code, "%v", err)
}
