package db

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
)

// MigrationStatus is a migration of this binary, or one that only the database knows.
type MigrationStatus struct {
	// AppliedAt is when it was applied; zero where it is pending.
	AppliedAt time.Time
	// Breaking says that binaries which don't know it can't work once it is applied.
	Breaking bool
	// Name is that of its file; empty where only the database knows it.
	Name    string
	Version int64
}

// Status tells how a database stands to this binary.
type Status struct {
	// BinaryVersion is the newest version that this binary knows.
	BinaryVersion int64
	Database      string
	// Dimension of the embeddings; 0 where no migration made them yet.
	Dimension int
	// Functions says how those of the database stand to this binary's: "applied", "outdated",
	// or "missing" where there are none.
	Functions string
	// Migrations are in the order of their versions.
	Migrations []MigrationStatus
	// Postgres and Pgvector are the versions of both; Pgvector is empty where it is not
	// installed in this database.
	Pgvector string
	Postgres string
	// Version is the database's; 0 where nothing was migrated yet.
	Version int64
}

// Version gives the database's version; 0 where nothing was migrated yet.
//
// Errors: [ErrBootstrap] where the login can't act as the schema's owner.
func (m *Migrator) Version(ctx context.Context) (int64, error) {
	err := m.checkInstalled(ctx)
	if errors.Is(err, ErrNotMigrated) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	o, err := m.openOwner(ctx)
	if err != nil {
		return 0, err
	}
	defer o.close()
	return o.version(ctx)
}

// Status tells how the database stands to this binary. It changes nothing, and does not wait for
// another process that is migrating.
//
// Errors: as those of [Migrator.Version].
func (m *Migrator) Status(ctx context.Context) (*Status, error) {
	f, err := m.facts(ctx)
	if err != nil {
		return nil, err
	}
	files, err := migrationFiles(m.schema)
	if err != nil {
		return nil, err
	}
	s := &Status{
		BinaryVersion: newestVersion(files), Database: f.database, Functions: "missing", Postgres: f.versionText,
	}
	if f.vectorInstalled != nil {
		s.Pgvector = *f.vectorInstalled
	}
	s.Migrations = append(s.Migrations, MigrationStatus{Name: riverName, Version: riverVersion})
	for _, file := range files {
		s.Migrations = append(s.Migrations, MigrationStatus{Breaking: file.breaking, Name: file.name, Version: file.version})
	}
	if f.versionsOwner != nil {
		if err := m.checkInstalled(ctx); err != nil {
			return nil, err
		}
		o, err := m.openOwner(ctx)
		if err != nil {
			return nil, err
		}
		defer o.close()
		if err := o.status(ctx, s); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(s.Migrations, func(a, b MigrationStatus) int { return int(a.Version - b.Version) })
	return s, nil
}

// status adds to s what the database has.
func (o *owner) status(ctx context.Context, s *Status) error {
	var err error
	if s.Version, err = o.version(ctx); err != nil {
		return err
	}
	applied, err := o.appliedVersions(ctx)
	if err != nil {
		return err
	}
	for i, migration := range s.Migrations {
		s.Migrations[i].AppliedAt = applied[migration.Version]
		delete(applied, migration.Version)
	}
	for version, at := range applied {
		s.Migrations = append(s.Migrations, MigrationStatus{AppliedAt: at, Version: version})
	}
	if s.Dimension, err = o.dimension(ctx); err != nil || s.Version == 0 {
		return err
	}
	checksum, err := appliedChecksum(ctx, o.pool)
	switch {
	case err != nil:
		return err
	case checksum == functionsChecksum(o.functions):
		s.Functions = "applied"
	case checksum != "":
		s.Functions = "outdated"
	}
	return nil
}

// appliedVersions gives when each version was applied.
func (o *owner) appliedVersions(ctx context.Context) (map[int64]time.Time, error) {
	rows, err := o.pool.Query(ctx, "SELECT v.version_id, v.tstamp FROM "+versionTable+" v WHERE v.version_id > 0")
	if err != nil {
		return nil, fmt.Errorf("list the applied migrations: %w", err)
	}
	defer rows.Close()
	applied := map[int64]time.Time{}
	for rows.Next() {
		var (
			at      time.Time
			version int64
		)
		if err := rows.Scan(&version, &at); err != nil {
			return nil, fmt.Errorf("list the applied migrations: %w", err)
		}
		applied[version] = at
	}
	return applied, rows.Err()
}

// Validate tells whether the database is just as this binary's migrations leave it: the server,
// every migration and no other, River's tables, the functions, the dimension if one was given,
// and that hippocampus_owner owns it all. It changes nothing.
//
// Errors: [ErrInvalidSchema] with all that is wrong; with it [ErrNotMigrated] where the database
// is older, or [ErrDatabaseNewer]. [ErrServer] and [ErrBootstrap] as for [Migrator.Up].
func (m *Migrator) Validate(ctx context.Context) error {
	if err := m.checkServer(ctx); err != nil {
		return err
	}
	err := m.checkInstalled(ctx)
	if errors.Is(err, ErrNotMigrated) {
		return fmt.Errorf("%w: %w", ErrInvalidSchema, err)
	}
	if err != nil {
		return err
	}
	o, err := m.openOwner(ctx)
	if err != nil {
		return err
	}
	defer o.close()
	version, err := o.version(ctx)
	if err != nil {
		return err
	}
	if err := o.refuseNewer(version); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidSchema, err)
	}
	if newest := o.newest(); version < newest {
		return fmt.Errorf("%w: %w: the database is at version %d, this binary needs version %d: run migrate up",
			ErrInvalidSchema, ErrNotMigrated, version, newest)
	}
	var problems []string
	for _, check := range []func(context.Context) (string, error){
		o.validateVersions, o.validateRiver, o.validateFunctions, o.validateDimension, o.validateOwner,
	} {
		problem, err := check(ctx)
		if err != nil {
			return err
		}
		if problem != "" {
			problems = append(problems, problem)
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("%w: %s", ErrInvalidSchema, strings.Join(problems, "; "))
	}
	return nil
}

func (o *owner) validateVersions(ctx context.Context) (string, error) {
	applied, err := o.appliedVersions(ctx)
	if err != nil {
		return "", err
	}
	var problems []string
	for _, s := range o.provider.ListSources() {
		if _, ok := applied[s.Version]; !ok {
			problems = append(problems, "migration "+migrationName(s)+" was not applied")
		}
		delete(applied, s.Version)
	}
	for version := range applied {
		problems = append(problems, fmt.Sprintf("migration %d was applied, which this binary doesn't know", version))
	}
	slices.Sort(problems)
	return strings.Join(problems, "; "), nil
}

func (o *owner) validateRiver(ctx context.Context) (string, error) {
	result, err := o.river.Validate(ctx, nil)
	if err != nil {
		return "", fmt.Errorf("validate River's tables: %w", err)
	}
	if result.OK {
		return "", nil
	}
	return "River: " + strings.Join(result.Messages, ", "), nil
}

func (o *owner) validateFunctions(ctx context.Context) (string, error) {
	applied, err := appliedChecksum(ctx, o.pool)
	if err != nil {
		return "", err
	}
	if applied != functionsChecksum(o.functions) {
		return "the functions are not those of this binary: run migrate up", nil
	}
	problems, err := compareFunctions(ctx, o.pool.QueryRow, o.functions)
	if err != nil || problems == "" {
		return "", err
	}
	return "functions: " + problems, nil
}

func (o *owner) validateDimension(ctx context.Context) (string, error) {
	err := o.checkDimension(ctx)
	if errors.Is(err, ErrDimension) {
		return err.Error(), nil
	}
	return "", err
}

// validateOwner names what somebody else made, or owns, in our schema.
func (o *owner) validateOwner(ctx context.Context) (string, error) {
	var problem string
	err := o.pool.QueryRow(ctx, `
		SELECT coalesce('not owned by `+ownerRole+`: ' || string_agg(x.object, ', ' ORDER BY x.object), '')
		FROM (SELECT c.oid::regclass::text, c.relowner, c.relnamespace FROM pg_catalog.pg_class c
		      WHERE c.relkind NOT IN ('i', 'I', 't')
		      UNION ALL
		      SELECT p.oid::regprocedure::text, p.proowner, p.pronamespace FROM pg_catalog.pg_proc p
		      UNION ALL
		      SELECT t.oid::regtype::text, t.typowner, t.typnamespace FROM pg_catalog.pg_type t
		      WHERE t.typrelid = 0 AND t.typelem = 0) AS x (object, owner, namespace)
		WHERE x.namespace = $1::regnamespace AND x.owner <> $2::regrole`, schemaName, ownerRole).Scan(&problem)
	if err != nil {
		return "", fmt.Errorf("look at the owners of the schema's objects: %w", err)
	}
	return problem, nil
}

func migrationName(s *goose.Source) string {
	if s.Version == riverVersion {
		return riverName
	}
	return path.Base(s.Path)
}
