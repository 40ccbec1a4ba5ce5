package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// DefaultDimension is the number of components of an embedding where the first migration
	// is not told another.
	DefaultDimension = 1536
	// MaxDimension is the greatest that a half-precision vector index takes.
	MaxDimension = 4000

	schemaName = "hippocampus"
	ownerRole  = "hippocampus_owner"

	// lockKey is the advisory lock of everything that changes the schema: "hippo" in ASCII.
	lockKey = 0x686970706f
)

// MigratorConfig is the configuration of a [Migrator]. Its zero value holds the defaults.
type MigratorConfig struct {
	// Dimension is the number of components of the embeddings, 1 to 4000. It is chosen by the
	// first Up of a database; a later Up fails if given another value than the database has.
	//
	// Defaults to what the database has, and to 1536 where it has none yet.
	Dimension int

	// Logger gets a line for each step taken.
	//
	// Defaults to no log.
	Logger *slog.Logger
}

// Migrator brings one database to the schema of this binary. It is not safe for concurrent use;
// several Migrators are, in one process or in many.
//
// It needs sessions of its own: a direct connection, or a pooler in session mode.
type Migrator struct {
	config    MigratorConfig
	conn      *pgx.Conn     // as the login; holds the lock
	schema    fs.FS         // sql/schema
	functions fs.FS         // sql/functions
	patience  time.Duration // with those who write
}

// AppliedMigration is one migration that was run.
type AppliedMigration struct {
	Duration time.Duration
	Name     string
	Version  int64
}

// MigrationReport tells what [Migrator.Up] or [Migrator.Down] did.
type MigrationReport struct {
	// Applied are the migrations that were run, in their order.
	Applied []AppliedMigration
	// Dimension of the embeddings; 0 after Down to a version that has none.
	Dimension int
	// Duration of the whole, without the wait for the lock.
	Duration time.Duration
	// From is the version before, 0 where there was none.
	From int64
	// Functions are the SQL functions that were written: all or none; dropped, by Down.
	Functions int
	// To is the version after.
	To int64
}

// NewMigrator connects to a database, given as a URL or as libpq's keywords and values; what it
// leaves out comes from libpq's PG* environment. A nil config holds the defaults. The Migrator
// must be closed.
//
// Errors: [ErrInvalidArgument] for a URL that can't be read or a dimension out of range;
// [ErrConnect] with one line that says what is wrong.
func NewMigrator(ctx context.Context, databaseURL string, config *MigratorConfig) (*Migrator, error) {
	m := &Migrator{schema: schemaFiles(), functions: functionFiles(), patience: lockPatience}
	if config != nil {
		m.config = *config
	}
	if m.config.Logger == nil {
		m.config.Logger = slog.New(slog.DiscardHandler)
	}
	if d := m.config.Dimension; d < 0 || d > MaxDimension {
		return nil, fmt.Errorf("%w: dimension is %d, but must be between 1 and %d", ErrInvalidArgument, d, MaxDimension)
	}
	connConfig, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, parseError(err)
	}
	if connConfig.ConnectTimeout == 0 {
		connConfig.ConnectTimeout = connectTimeout
	}
	// The lock is held as long as it takes, whatever limits the login has.
	for _, name := range []string{"idle_in_transaction_session_timeout", "idle_session_timeout", "lock_timeout", "statement_timeout"} {
		connConfig.RuntimeParams[name] = "0"
	}
	connConfig.RuntimeParams["application_name"] = "hippocampus migrate"
	connConfig.RuntimeParams[plainStrings] = "on"
	connConfig.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		return conn.Exec(ctx, sessionSettings).Close()
	}
	if m.conn, err = pgx.ConnectConfig(ctx, connConfig); err != nil {
		return nil, connectError(connConfig, err)
	}
	return m, nil
}

// sessionSettings is what can't be said when connecting: Postgres has transaction_timeout from 17 on, and the URL may have
// a time zone in any letter case. goose notes when it applied a migration in the session's time, and reads it as UTC.
const sessionSettings = `SELECT pg_catalog.set_config(s.name, CASE s.name WHEN 'TimeZone' THEN 'UTC' ELSE '0' END, false)
	FROM pg_catalog.pg_settings s WHERE s.name IN ('TimeZone', 'transaction_timeout')`

// Close gives the connection, and with it the lock, back.
func (m *Migrator) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return m.conn.Close(ctx)
}

// Up brings the database to the newest version that this binary knows, and its functions to this
// binary's. It may be called again at any time, by any number of processes at once. A migration
// that fails is rolled back; those before it stay, and the next Up goes on from there.
//
// Errors: [ErrServer] where Postgres or pgvector is missing or too old; [ErrBootstrap] where an
// administrator must do something first; [ErrDatabaseNewer]; [ErrDimension]; [ErrReadOnly]; [ErrConflict] where
// transactions that write went on for a minute, and the functions could not be applied beside them: what holds them is named.
func (m *Migrator) Up(ctx context.Context) (*MigrationReport, error) {
	report := &MigrationReport{}
	err := m.locked(ctx, func(start time.Time) error {
		defer func() { report.Duration = time.Since(start) }()
		if err := m.checkServer(ctx); err != nil {
			return err
		}
		if err := m.bootstrap(ctx); err != nil {
			return err
		}
		o, err := m.openOwner(ctx)
		if err != nil {
			return err
		}
		defer o.close()
		return o.up(ctx, report)
	})
	return report, err
}

// Down takes the database back to a version: 0 removes everything but the roles, the empty
// schema and the extension. All functions are dropped whatever the target, since they belong to
// the newest version; an Up brings them back. The data of what is dropped is lost.
//
// Errors: [ErrInvalidArgument] for a target that is not a version of this binary, or newer than
// the database, or where something outside of the schema uses what would go, which it names; [ErrDatabaseNewer];
// [ErrNotMigrated]; [ErrReadOnly].
func (m *Migrator) Down(ctx context.Context, target int64) (*MigrationReport, error) {
	report := &MigrationReport{}
	err := m.locked(ctx, func(start time.Time) error {
		defer func() { report.Duration = time.Since(start) }()
		if err := m.checkInstalled(ctx); err != nil {
			return err
		}
		o, err := m.openOwner(ctx)
		if err != nil {
			return err
		}
		defer o.close()
		return o.down(ctx, target, report)
	})
	return report, err
}

// locked runs fn while it holds the lock.
//
// It asks for the lock again and again, and does not wait in pg_advisory_lock: a statement that
// waits holds a snapshot, CREATE INDEX CONCURRENTLY waits for the end of every older snapshot,
// and so the migration that holds the lock would wait for those that wait for it.
func (m *Migrator) locked(ctx context.Context, fn func(start time.Time) error) error {
	wait := 10 * time.Millisecond
	for asked := false; ; asked = true {
		var got bool
		if err := m.conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", int64(lockKey)).Scan(&got); err != nil {
			return fmt.Errorf("lock the schema: %w", err)
		}
		if got {
			break
		}
		if !asked {
			m.config.Logger.InfoContext(ctx, "another process is migrating this database: waiting for it")
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for another process that migrates this database: %w", ctx.Err())
		case <-time.After(wait):
		}
		wait = min(2*wait, 500*time.Millisecond)
	}
	err := fn(time.Now())
	if readOnly := Wrap(err); errors.Is(readOnly, ErrReadOnly) { // what else fails here says by itself what to do
		err = readOnly
	}
	// After a cancelled statement the connection is closed, and the lock is free by that.
	if !m.conn.IsClosed() {
		_, unlockErr := m.conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", int64(lockKey))
		err = errors.Join(err, unlockErr)
	}
	return err
}
