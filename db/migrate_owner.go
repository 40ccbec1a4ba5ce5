package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

const (
	versionTable = schemaName + ".goose_db_version"

	// River's tables are the migration riverVersion of ours; riverTarget is the version of
	// River's own migrations that it goes to, fixed so that a migration always does the same.
	// When River ships another, it becomes a further migration of ours.
	riverVersion = 2
	riverTarget  = 8
	riverName    = "00002_create_river.go"
)

// owner works in the database as the role hippocampus_owner.
type owner struct {
	m         *Migrator
	pool      *pgxpool.Pool
	sqlDB     *sql.DB
	schema    fs.FS // the migrations
	functions []functionFile
	tables    []string // in the order in which they are locked for the functions
	provider  *goose.Provider
	river     *rivermigrate.Migrator[pgx.Tx]
}

// openOwner opens a pool whose sessions act as the owner, so that it owns what they make. They
// have an empty search_path: every name in our SQL is qualified, and what is stored can't depend
// on the login's settings.
func (m *Migrator) openOwner(ctx context.Context) (_ *owner, err error) {
	config, err := pgxpool.ParseConfig("")
	if err != nil {
		return nil, fmt.Errorf("configure the owner's pool: %w", err)
	}
	config.ConnConfig = m.conn.Config().Copy()
	config.ConnConfig.RuntimeParams["search_path"] = ""
	config.MaxConns = 4
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		dimension := ""
		if m.config.Dimension != 0 {
			dimension = strconv.Itoa(m.config.Dimension)
		}
		if _, err := conn.Exec(ctx, "SET ROLE "+ownerRole); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, "SELECT set_config('hippocampus.embedding_dimension', $1, false)", dimension)
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the owner's pool: %w", err)
	}
	o := &owner{m: m, pool: pool, sqlDB: stdlib.OpenDBFromPool(pool)}
	defer func() {
		if err != nil {
			o.close()
		}
	}()
	extension, err := vectorSchema(ctx, pool)
	if err != nil {
		return nil, err
	}
	o.schema = extensionFS{FS: m.schema, schema: extension}
	if o.functions, err = readFunctions(extensionFS{FS: m.functions, schema: extension}); err != nil {
		return nil, err
	}
	// River warns of nothing that concerns our user; its log lines repeat ours.
	quiet := slog.New(slog.DiscardHandler)
	o.river, err = rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet, Schema: schemaName})
	if err != nil {
		return nil, fmt.Errorf("prepare River's migrations: %w", err)
	}
	o.provider, err = goose.NewProvider(goose.DialectPostgres, o.sqlDB, o.schema,
		goose.WithDisableGlobalRegistry(true),
		goose.WithGoMigrations(o.riverMigration()),
		goose.WithSlog(quiet),
		goose.WithTableName(versionTable))
	if err != nil {
		return nil, fmt.Errorf("read sql/schema: %w", err)
	}
	return o, nil
}

func (o *owner) close() {
	_ = o.sqlDB.Close()
	o.pool.Close()
}

// riverMigration is River's schema as one of our migrations. It runs outside of goose's
// transaction: River commits each of its versions, as a new value of an enum must be before use.
func (o *owner) riverMigration() *goose.Migration {
	run := func(direction rivermigrate.Direction, target int) *goose.GoFunc {
		return &goose.GoFunc{RunDB: func(ctx context.Context, _ *sql.DB) error {
			_, err := o.river.Migrate(ctx, direction, &rivermigrate.MigrateOpts{TargetVersion: target})
			return err
		}}
	}
	return goose.NewGoMigration(riverVersion,
		run(rivermigrate.DirectionUp, riverTarget), run(rivermigrate.DirectionDown, -1))
}

func (o *owner) up(ctx context.Context, report *MigrationReport) error {
	var err error
	if report.From, err = o.version(ctx); err != nil {
		return err
	}
	report.To = report.From
	if err := o.refuseNewer(report.From); err != nil {
		return err
	}
	// Before the migrations: nothing is done for a wrong argument.
	if err := o.checkDimension(ctx); err != nil {
		return err
	}
	results, err := o.provider.Up(ctx)
	if err := o.record(ctx, results, err, report); err != nil {
		return err
	}
	report.To = o.newest()
	if err := o.recordBreaking(ctx); err != nil {
		return err
	}
	if report.Functions, err = o.syncFunctions(ctx); err != nil {
		return err
	}
	report.Dimension, err = o.dimension(ctx)
	return err
}

func (o *owner) down(ctx context.Context, target int64, report *MigrationReport) error {
	var err error
	if report.From, err = o.version(ctx); err != nil {
		return err
	}
	report.To = report.From
	if err := o.refuseNewer(report.From); err != nil {
		return err
	}
	known := target == 0
	for _, s := range o.provider.ListSources() {
		known = known || s.Version == target
	}
	if !known || target > report.From {
		return fmt.Errorf("%w: can't go down to version %d from version %d: see migrate status for the versions",
			ErrInvalidArgument, target, report.From)
	}
	if target == report.From && target != 0 {
		report.Dimension, err = o.dimension(ctx)
		return err
	}
	// Before anything goes: what depends on a function would go with it, and on a table keep it halfway.
	if err := o.refuseDependents(ctx, target == 0); err != nil {
		return err
	}
	if report.Functions, err = o.dropFunctions(ctx); err != nil {
		return err
	}
	results, err := o.provider.DownTo(ctx, target)
	if err := o.record(ctx, results, err, report); err != nil {
		return err
	}
	report.To = target
	if target > 0 {
		if err := o.recordBreaking(ctx); err != nil {
			return err
		}
	}
	report.Dimension, err = o.dimension(ctx)
	return err
}

// record puts goose's results into the report and the log, those before a failure too, and
// turns that failure into an error that names the file and the line.
func (o *owner) record(ctx context.Context, results []*goose.MigrationResult, err error, report *MigrationReport) error {
	var partial *goose.PartialError
	if errors.As(err, &partial) {
		results = partial.Applied
	}
	for _, r := range results {
		name := migrationName(r.Source)
		report.Applied = append(report.Applied, AppliedMigration{Duration: r.Duration, Name: name, Version: r.Source.Version})
		report.To = r.Source.Version
		o.m.config.Logger.InfoContext(ctx, "migrated",
			slog.String("direction", r.Direction), slog.Duration("duration", r.Duration), slog.String("migration", name))
	}
	if partial != nil {
		return fmt.Errorf("run migration %s: %w", migrationName(partial.Failed.Source), withDetail(partial.Err))
	}
	if err != nil {
		return fmt.Errorf("run migrations: %w", err)
	}
	return nil
}

// withDetail adds what Postgres says beyond the message.
func withDetail(err error) error {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return err
	}
	var b strings.Builder
	for _, part := range []struct{ label, text string }{
		{"detail", pgErr.Detail}, {"hint", pgErr.Hint}, {"where", pgErr.Where},
	} {
		if part.text != "" {
			fmt.Fprintf(&b, "; %s: %s", part.label, part.text)
		}
	}
	return fmt.Errorf("%w%s", err, b.String())
}

// newest is the newest version that this binary knows.
func (o *owner) newest() int64 {
	sources := o.provider.ListSources()
	return sources[len(sources)-1].Version
}

// version is the database's; 0 where nothing was migrated yet.
func (o *owner) version(ctx context.Context) (int64, error) {
	return databaseVersion(ctx, o.pool)
}

func (o *owner) refuseNewer(version int64) error {
	if newest := o.newest(); version > newest {
		return fmt.Errorf("%w: the database is at version %d, this binary knows versions up to %d: "+
			"use a newer binary", ErrDatabaseNewer, version, newest)
	}
	return nil
}

// dimension gives that of the generation of embeddings that serves; 0 where the migration that
// makes it has not run.
func (o *owner) dimension(ctx context.Context) (int, error) {
	var exists bool
	err := o.pool.QueryRow(ctx, "SELECT to_regclass('hippocampus.embedding_models') IS NOT NULL").Scan(&exists)
	if err != nil || !exists {
		return 0, err
	}
	var dimension int
	err = o.pool.QueryRow(ctx,
		"SELECT m.dimension FROM hippocampus.embedding_models m WHERE m.status = 'serving'").Scan(&dimension)
	if err != nil {
		return 0, fmt.Errorf("read the dimension of the embeddings: %w", err)
	}
	return dimension, nil
}

// checkDimension is an error if the caller asked for another dimension than the database has.
func (o *owner) checkDimension(ctx context.Context) error {
	dimension, err := o.dimension(ctx)
	if err != nil || dimension == 0 {
		return err
	}
	if asked := o.m.config.Dimension; asked != 0 && asked != dimension {
		return fmt.Errorf("%w: dimension %d was asked for, but the embeddings in this database have %d: "+
			"the first migrate up has chosen it; leave the argument out", ErrDimension, asked, dimension)
	}
	return nil
}
