package dbtest

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
)

// DefaultDimension is that of the embeddings in test databases, small to be quick.
const DefaultDimension = 64

// Option changes what [DB] gives.
type Option func(*options)

type options struct {
	dimension int
	durable   bool
	maxConns  int
}

// Dimension gives the embeddings another dimension than [DefaultDimension]. A process should use
// few different ones, as each has a template of its own.
func Dimension(dimension int) Option { return func(o *options) { o.dimension = dimension } }

// Durable makes a commit wait for the disk, as it does in production. Test databases don't, to be
// quick; they still lose nothing but by a crash of the server.
func Durable() Option { return func(o *options) { o.durable = true } }

// MaxConns is the greatest number of the pool's connections. Defaults to 8.
func MaxConns(n int) Option { return func(o *options) { o.maxConns = n } }

// DB gives a database of the test's own, with the whole schema and no rows. It is dropped when the
// test ends; if the test failed, it is kept for a day, and its URL is logged.
//
// The pool's login is the server's superuser, which row-level security doesn't bind: see [As] and
// [db.WithScope].
func DB(t testing.TB, opts ...Option) *pgxpool.Pool {
	t.Helper()
	o := options{dimension: DefaultDimension, maxConns: 8}
	for _, opt := range opts {
		opt(&o)
	}
	name, err := clone(t.Context(), o)
	require.NoError(t, err)
	cloneURL := WithDatabase(t, URL(t), name)
	t.Cleanup(func() { drop(t, name, cloneURL) })
	return newPool(t, withoutSearchPath(cloneURL), o.maxConns, nil)
}

// DatabaseURL is the URL of a pool's database, with its password, and with the empty search_path.
func DatabaseURL(pool *pgxpool.Pool) string { return pool.Config().ConnString() }

// maxTx is how many transactions a process may have open, of the server's 200 connections.
const maxTx = 16

// shared is the database of all transactions of this process. It is dropped by a later process.
var shared = sync.OnceValues(func() (*pgxpool.Pool, error) {
	ctx := context.Background()
	name, err := clone(ctx, options{dimension: DefaultDimension})
	if err != nil {
		return nil, err
	}
	serverURL, err := serverURL()
	if err != nil {
		return nil, err
	}
	cloneURL, err := withDatabase(serverURL, name)
	if err != nil {
		return nil, err
	}
	return db.NewPool(ctx, &db.Config{DatabaseURL: withoutSearchPath(cloneURL), MaxConns: maxTx})
})

// Tx gives a transaction that is rolled back when the test ends. The tests of a process share
// its database: parallel ones that write the same key wait for each other, so let each have a
// scope of its own ([NewScope]).
func Tx(t testing.TB) pgx.Tx {
	t.Helper()
	pool, err := shared()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tx, err := pool.Begin(ctx)
	require.NoError(t, err, "begin a transaction; at most %d are open at once in a process", maxTx)
	t.Cleanup(func() {
		// The test's context has ended by now, and with it, maybe, the connection.
		_ = tx.Rollback(context.WithoutCancel(t.Context()))
	})
	return tx
}

var scopes atomic.Int64

// NewScope gives a scope that no other test of this process has.
func NewScope(t testing.TB) db.Scope {
	t.Helper()
	n := scopes.Add(1)
	return db.Scope{AppName: fmt.Sprintf("app%d", n), UserID: fmt.Sprintf("user%d", n)}
}

// newPool makes a pool that is closed when the test ends.
func newPool(
	t testing.TB, databaseURL string, maxConns int, afterConnect func(context.Context, *pgx.Conn) error,
) *pgxpool.Pool {
	t.Helper()
	pool, err := db.NewPool(t.Context(), &db.Config{
		AfterConnect: afterConnect,
		DatabaseURL:  databaseURL,
		MaxConns:     maxConns,
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		closed := make(chan struct{})
		go func() {
			pool.Close()
			close(closed)
		}()
		select {
		case <-closed:
		case <-time.After(10 * time.Second):
			t.Errorf("dbtest: the pool can't be closed: the test has not given back %d connections", pool.Stat().AcquiredConns())
		}
	})
	return pool
}

// withoutSearchPath makes sessions have an empty search_path, in a form that libpq takes too.
func withoutSearchPath(databaseURL string) string {
	switch {
	case !strings.Contains(databaseURL, "://"):
		return databaseURL + " options='-c search_path='"
	case strings.Contains(databaseURL, "?"):
		return databaseURL + "&options=-c%20search_path%3D"
	default:
		return databaseURL + "?options=-c%20search_path%3D"
	}
}

var (
	clones  atomic.Int64
	started = time.Now()
)

// clone makes a database from the template.
func clone(ctx context.Context, o options) (string, error) {
	from, err := templateFor(ctx, o.dimension)
	if err != nil {
		return "", err
	}
	pool, err := admin()
	if err != nil {
		return "", err
	}
	// WAL_LOG copies through the buffers. FILE_COPY begins and ends with a checkpoint of the whole
	// server, which took 150 to 800 ms where this took 80 to 380.
	name := cloneName()
	if _, err := pool.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+from+" STRATEGY WAL_LOG"); err != nil {
		return "", fmt.Errorf("clone the template: %w", err)
	}
	if !o.durable {
		if _, err := pool.Exec(ctx, "ALTER DATABASE "+name+" SET synchronous_commit = off"); err != nil {
			return "", fmt.Errorf("configure the clone: %w", err)
		}
	}
	return name, nil
}

func cloneName() string {
	return fmt.Sprintf("%s%s_%d_%d", clonePrefix, strconv.FormatInt(started.Unix(), 36), os.Getpid(), clones.Add(1))
}

// cloneTime is when the process that made a clone started, which is in the clone's name.
func cloneTime(name string) time.Time {
	stamp, _, _ := strings.Cut(strings.TrimPrefix(name, clonePrefix), "_")
	seconds, _ := strconv.ParseInt(stamp, 36, 64)
	return time.Unix(seconds, 0)
}

// drop drops a clone, or keeps it if the test failed.
func drop(t testing.TB, name, cloneURL string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	pool, err := admin()
	require.NoError(t, err)
	if t.Failed() {
		t.Logf("dbtest: the test's database is kept for a day: psql '%s'", cloneURL)
		_, err = pool.Exec(ctx, "COMMENT ON DATABASE "+name+" IS '"+keptMark+"'")
	} else {
		_, err = pool.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
	}
	require.NoError(t, err)
}

// Empty gives the URL of a database with nothing in it, for tests of what makes the schema. It is
// dropped as that of [DB] is. Its owner is the given role, or the server's superuser for "".
func Empty(t testing.TB, owner string) string {
	t.Helper()
	pool, err := admin()
	require.NoError(t, err)
	name := cloneName()
	query := "CREATE DATABASE " + name + " TEMPLATE template0"
	if owner != "" {
		query += " OWNER " + pgx.Identifier{owner}.Sanitize()
	}
	_, err = pool.Exec(t.Context(), query)
	require.NoError(t, err)
	emptyURL := WithDatabase(t, URL(t), name)
	t.Cleanup(func() { drop(t, name, emptyURL) })
	return emptyURL
}
