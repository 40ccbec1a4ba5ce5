package db

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Queryer is what reads: a pool, a connection or a transaction.
type Queryer interface {
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// databaseVersion is the newest version that was applied; 0 where none was.
func databaseVersion(ctx context.Context, q Queryer) (int64, error) {
	var version int64
	err := q.QueryRow(ctx, "SELECT coalesce(max(v.version_id), 0) FROM "+versionTable+" v").Scan(&version)
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && (pgErr.Code == "42P01" || pgErr.Code == "3F000") { // no table, no schema
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the database's version: %w", err)
	}
	return version, nil
}

// readSetting reads one of the deployment's settings into target, which stays as it is where the
// setting has no row.
func readSetting(ctx context.Context, q Queryer, key string, target any) error {
	var value []byte
	err := q.QueryRow(ctx, `SELECT s.value FROM hippocampus.settings s WHERE s.app_name = '*' AND s.key = $1`, key).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read setting %s: %w", key, err)
	}
	if err := json.Unmarshal(value, target); err != nil {
		return fmt.Errorf("read setting %s: %w", key, err)
	}
	return nil
}

// appliedChecksum is that of the functions in the database; empty where there are none.
func appliedChecksum(ctx context.Context, q Queryer) (string, error) {
	var checksum string
	err := readSetting(ctx, q, "functions_checksum", &checksum)
	return checksum, err
}

var (
	versionPrefix = regexp.MustCompile(`^([0-9]+)_`)
	// The marker stands in the file's first lines, before goose's.
	breakingMarker = regexp.MustCompile(`\A(?:\s*--[^\n]*\n)*?\s*-- breaking-change\b`)
)

// migrationFile is a file of sql/schema.
type migrationFile struct {
	version  int64
	name     string
	breaking bool // an older binary must not work on it
}

// migrationFiles lists sql/schema, oldest first.
func migrationFiles(fsys fs.FS) ([]migrationFile, error) {
	names, err := fs.Glob(fsys, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("list sql/schema: %w", err)
	}
	files := make([]migrationFile, 0, len(names))
	for _, name := range names {
		match := versionPrefix.FindStringSubmatch(name)
		if match == nil {
			return nil, fmt.Errorf("sql/schema/%s: its name does not begin with a version", name)
		}
		version, err := strconv.ParseInt(match[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("sql/schema/%s: %w", name, err)
		}
		body, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read sql/schema/%s: %w", name, err)
		}
		files = append(files, migrationFile{version: version, name: name, breaking: breakingMarker.Match(body)})
	}
	return files, nil
}

// BinaryVersion is the newest version of the schema that this binary knows.
func BinaryVersion() int64 {
	files, err := migrationFiles(schemaFiles())
	if err != nil {
		panic(err) // the files are part of the binary, and every test reads them
	}
	return newestVersion(files)
}

func newestVersion(files []migrationFile) int64 {
	newest := int64(riverVersion)
	for _, f := range files {
		newest = max(newest, f.version)
	}
	return newest
}

// recordBreaking writes down the newest breaking version that the database has, for binaries
// that don't know that version themselves.
func (o *owner) recordBreaking(ctx context.Context) error {
	version, err := o.version(ctx)
	if err != nil {
		return err
	}
	files, err := migrationFiles(o.schema)
	if err != nil {
		return err
	}
	breaking := int64(0)
	for _, f := range files {
		if f.breaking && f.version <= version {
			breaking = max(breaking, f.version)
		}
	}
	_, err = o.pool.Exec(ctx, `
		INSERT INTO hippocampus.settings AS s (app_name, key, value)
		VALUES ('*', 'breaking_version', to_jsonb($1::bigint))
		ON CONFLICT (app_name, key) DO UPDATE SET value = excluded.value, updated_at = now()
		WHERE s.value <> excluded.value`, breaking)
	if err != nil {
		return fmt.Errorf("record the breaking version: %w", err)
	}
	return nil
}

// CheckCompatible tells whether this binary may work on the database, as a worker or a service
// asks when it starts. A database of this binary's version is right; a newer one is too, unless a
// migration that this binary doesn't know was marked as breaking.
//
// Errors: [ErrNotMigrated] where the database is older, [ErrDatabaseNewer] where it is newer and
// breaks with this binary; [ErrPermission] where the login may not read the version, so is not a
// member of one of Hippocampus's roles.
func CheckCompatible(ctx context.Context, q Queryer) error {
	return checkCompatible(ctx, q, BinaryVersion())
}

func checkCompatible(ctx context.Context, q Queryer, binary int64) error {
	version, err := databaseVersion(ctx, q)
	if err != nil {
		return Wrap(err)
	}
	if version < binary {
		return fmt.Errorf("%w: the database is at version %d, this binary needs version %d: run migrate up",
			ErrNotMigrated, version, binary)
	}
	if version == binary {
		return nil
	}
	var breaking int64
	if err := readSetting(ctx, q, "breaking_version", &breaking); err != nil {
		return Wrap(err)
	}
	if breaking > binary {
		return fmt.Errorf("%w: the database is at version %d, and its version %d broke with binaries of version %d: "+
			"use a newer binary", ErrDatabaseNewer, version, breaking, binary)
	}
	return nil
}
