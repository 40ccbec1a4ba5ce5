package db

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
)

// riverFunction is in our schema, but River's.
const riverFunction = "river_job_state_in_bitmask"

// dropAdvice is what to do about a function that CREATE OR REPLACE can't reach.
const dropAdvice = "a function that is gone, or has other arguments or another result, is dropped by a migration in sql/schema"

// functionFile is one file of sql/functions; its name is the function's.
type functionFile struct {
	name string
	body string
}

// readFunctions reads sql/functions in the byte order of the file names, in which they are applied.
func readFunctions(fsys fs.FS) ([]functionFile, error) {
	names, err := fs.Glob(fsys, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("list sql/functions: %w", err)
	}
	files := make([]functionFile, 0, len(names))
	for _, name := range names {
		body, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read sql/functions/%s: %w", name, err)
		}
		files = append(files, functionFile{name: strings.TrimSuffix(name, ".sql"), body: string(body)})
	}
	slices.SortFunc(files, func(a, b functionFile) int { return cmp.Compare(a.name, b.name) })
	return files, nil
}

// functionsChecksum is the SHA-256 over names and bodies.
func functionsChecksum(files []functionFile) string {
	hash := sha256.New()
	for _, f := range files {
		fmt.Fprintf(hash, "%s %d\n%s", f.name, len(f.body), f.body)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// syncFunctions applies sql/functions in one transaction, unless the database has these very
// ones, and gives the number applied.
func (o *owner) syncFunctions(ctx context.Context) (int, error) {
	checksum := functionsChecksum(o.functions)
	applied, err := appliedChecksum(ctx, o.pool)
	if err != nil {
		return 0, err
	}
	if applied == checksum {
		problems, err := compareFunctions(ctx, o.pool.QueryRow, o.functions)
		if err != nil {
			return 0, err
		}
		if problems == "" {
			return 0, nil
		}
	}
	if o.tables, err = o.listTables(ctx); err != nil {
		return 0, err
	}
	if err := o.m.whenTablesAreFree(ctx, func() error { return o.applyOnce(ctx, checksum) }); err != nil {
		return 0, fmt.Errorf("apply sql/functions: %w", err)
	}
	o.m.config.Logger.InfoContext(ctx, "applied the functions", slog.Int("functions", len(o.functions)))
	return len(o.functions), nil
}

// applyOnce applies the files in a transaction.
func (o *owner) applyOnce(ctx context.Context, checksum string) error {
	// Not versioned: it runs each time, as the files are the only source of the functions.
	provider, err := goose.NewProvider(goose.DialectPostgres, o.sqlDB, nil,
		goose.WithDisableGlobalRegistry(true),
		goose.WithDisableVersioning(true),
		goose.WithGoMigrations(goose.NewGoMigration(1, &goose.GoFunc{
			RunTx: func(ctx context.Context, tx *sql.Tx) error { return o.applyFunctions(ctx, tx, checksum) },
		}, nil)),
		goose.WithSlog(slog.New(slog.DiscardHandler)))
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	_, err = provider.Up(ctx)
	// goose's own words would name a migration that no file is.
	var partial *goose.PartialError
	if errors.As(err, &partial) {
		err = partial.Err
	}
	return err
}

// applyFunctions locks the tables, runs all files, checks that the schema has these functions and no others, and
// records their checksum.
func (o *owner) applyFunctions(ctx context.Context, tx *sql.Tx, checksum string) error {
	if err := o.lockTables(ctx, tx); err != nil {
		return err
	}
	if err := runFunctions(ctx, tx, o.functions); err != nil {
		return err
	}
	queryRow := func(ctx context.Context, query string, args ...any) pgx.Row {
		return tx.QueryRowContext(ctx, query, args...)
	}
	problems, err := compareFunctions(ctx, queryRow, o.functions)
	if err != nil {
		return err
	}
	if problems != "" {
		return fmt.Errorf("%s; a file makes the one function of its name; %s", problems, dropAdvice)
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO hippocampus.settings (app_name, key, value) VALUES ('*', 'functions_checksum', to_jsonb($1::text))
		ON CONFLICT (app_name, key) DO UPDATE SET value = excluded.value, updated_at = now()`, checksum)
	if err != nil {
		return fmt.Errorf("record the checksum: %w", err)
	}
	return nil
}

// runFunctions runs the files in their order, except that one which needs a function that isn't
// there yet, as the body of a BEGIN ATOMIC function or a trigger may, is put off to the next round.
func runFunctions(ctx context.Context, tx *sql.Tx, files []functionFile) error {
	for len(files) > 0 {
		var (
			later []functionFile
			first error
		)
		for _, f := range files {
			if _, err := tx.ExecContext(ctx, "SAVEPOINT function_file"); err != nil {
				return fmt.Errorf("begin %s.sql: %w", f.name, err)
			}
			// Without arguments pgx uses the simple protocol, which takes several statements.
			_, err := tx.ExecContext(ctx, f.body)
			if err == nil {
				continue
			}
			var pgErr *pgconn.PgError
			if !errors.As(err, &pgErr) || pgErr.Code != "42883" { // undefined_function
				return functionError(f, err)
			}
			if _, err := tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT function_file"); err != nil {
				return fmt.Errorf("put off %s.sql: %w", f.name, err)
			}
			later = append(later, f)
			first = cmp.Or(first, functionError(f, err))
		}
		if len(later) == len(files) {
			return first
		}
		files = later
	}
	return nil
}

// functionError names the file, and the line where Postgres gives a position.
func functionError(f functionFile, err error) error {
	var pgErr *pgconn.PgError
	line := ""
	if errors.As(err, &pgErr) && pgErr.Position > 0 {
		before := []rune(f.body)[:min(int(pgErr.Position)-1, len([]rune(f.body)))]
		line = fmt.Sprintf(":%d", 1+strings.Count(string(before), "\n"))
	}
	err = withDetail(err)
	// ambiguous_function (of an overload), invalid_function_definition (of another result)
	if pgErr != nil && slices.Contains([]string{"42725", "42P13"}, pgErr.Code) {
		err = fmt.Errorf("%w; %s", err, dropAdvice)
	}
	return fmt.Errorf("%s.sql%s: %w", f.name, line, err)
}

// compareFunctions says how the functions of the schema differ from the files, or nothing if they
// don't: stray ones, missing ones and overloads.
func compareFunctions(
	ctx context.Context, queryRow func(context.Context, string, ...any) pgx.Row, files []functionFile,
) (string, error) {
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, f.name)
	}
	var problems string
	err := queryRow(ctx, `
		WITH file AS (
		    SELECT f.name FROM unnest(string_to_array($1, ',')) AS f (name)
		), routine AS (
		    SELECT p.proname::text AS name, count(*) AS routines,
		           string_agg(format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)), ', '
		                      ORDER BY pg_get_function_identity_arguments(p.oid)) AS signatures
		    FROM pg_catalog.pg_proc p
		    WHERE p.oid IN (`+ourRoutines+`)
		    GROUP BY p.proname
		), difference AS (
		    SELECT f.name, r.signatures,
		           CASE WHEN f.name IS NULL THEN 'no file makes'
		                WHEN r.name IS NULL THEN 'no function of these names'
		                ELSE 'more than one function of a name' END AS problem
		    FROM file f FULL JOIN routine r ON r.name = f.name
		    WHERE f.name IS NULL OR r.name IS NULL OR r.routines > 1
		), line AS (
		    SELECT d.problem || ' ' || string_agg(coalesce(d.signatures, d.name), ', '
		                                           ORDER BY coalesce(d.name, d.signatures)) AS text
		    FROM difference d GROUP BY d.problem
		)
		SELECT coalesce(string_agg(l.text, '; ' ORDER BY l.text), '') FROM line l`,
		strings.Join(names, ",")).Scan(&problems)
	if err != nil {
		return "", fmt.Errorf("list the functions of the schema: %w", err)
	}
	return problems, nil
}

// ourRoutines selects the functions of our schema that are neither River's nor an extension's.
const ourRoutines = `
    SELECT x.oid FROM pg_catalog.pg_proc x
    JOIN pg_catalog.pg_namespace n ON n.oid = x.pronamespace
    WHERE n.nspname = '` + schemaName + `' AND x.proname <> '` + riverFunction + `'
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
                      WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = x.oid AND d.deptype = 'e')`

// refuseDependents refuses to drop what others have built upon: views, foreign keys, triggers, functions, defaults and
// policies that are not in our schema. All functions go at each step down, the tables for certain at the last only.
func (o *owner) refuseDependents(ctx context.Context, everything bool) error {
	var dependents string
	err := o.pool.QueryRow(ctx, `
		WITH ours AS (
		    SELECT 'pg_catalog.pg_proc'::regclass AS class, p.oid FROM pg_catalog.pg_proc p WHERE p.pronamespace = '`+schemaName+`'::regnamespace
		    UNION ALL SELECT 'pg_catalog.pg_class'::regclass, c.oid FROM pg_catalog.pg_class c WHERE $1 AND c.relnamespace = '`+schemaName+`'::regnamespace
		    UNION ALL SELECT 'pg_catalog.pg_type'::regclass, t.oid FROM pg_catalog.pg_type t WHERE $1 AND t.typnamespace = '`+schemaName+`'::regnamespace
		), part (class, oid, relation) AS ( -- of a relation
		    SELECT 'pg_catalog.pg_rewrite'::regclass, r.oid, r.ev_class FROM pg_catalog.pg_rewrite r
		    UNION ALL SELECT 'pg_catalog.pg_constraint'::regclass, c.oid, c.conrelid FROM pg_catalog.pg_constraint c
		    UNION ALL SELECT 'pg_catalog.pg_trigger'::regclass, g.oid, g.tgrelid FROM pg_catalog.pg_trigger g WHERE NOT g.tgisinternal
		    UNION ALL SELECT 'pg_catalog.pg_attrdef'::regclass, f.oid, f.adrelid FROM pg_catalog.pg_attrdef f
		    UNION ALL SELECT 'pg_catalog.pg_policy'::regclass, y.oid, y.polrelid FROM pg_catalog.pg_policy y
		), dependent AS (
		    SELECT 'pg_catalog.pg_class'::regclass AS class, p.relation AS oid
		    FROM pg_catalog.pg_depend d JOIN ours u ON u.class = d.refclassid AND u.oid = d.refobjid
		    JOIN part p ON p.class = d.classid AND p.oid = d.objid
		    UNION SELECT d.classid, d.objid
		    FROM pg_catalog.pg_depend d JOIN ours u ON u.class = d.refclassid AND u.oid = d.refobjid
		    WHERE d.classid IN ('pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_class'::regclass)
		)
		SELECT coalesce(string_agg(i.type || ' ' || i.identity, ', ' ORDER BY i.identity), '')
		FROM dependent d CROSS JOIN LATERAL pg_catalog.pg_identify_object(d.class, d.oid, 0) i
		WHERE d.oid <> 0 AND i.schema NOT IN ('`+schemaName+`', 'pg_toast')`, everything).Scan(&dependents)
	if err != nil {
		return fmt.Errorf("look for what depends on the schema: %w", err)
	}
	if dependents != "" {
		return fmt.Errorf("%w: what would go is used by %s: drop these first, or what of them uses the schema %s",
			ErrInvalidArgument, dependents, schemaName)
	}
	return nil
}

// dropFunctions drops all of them, with the triggers that call them, and forgets their checksum.
// It gives their number.
func (o *owner) dropFunctions(ctx context.Context) (int, error) {
	dropped := 0
	err := pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT p.oid::regprocedure::text FROM pg_catalog.pg_proc p
			WHERE p.oid IN (`+ourRoutines+`) ORDER BY 1`)
		if err != nil {
			return err
		}
		signatures, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		dropped = len(signatures)
		for _, s := range signatures {
			// Nothing of a migration can depend on them, as they came after; but one may have
			// gone with another already.
			if _, err := tx.Exec(ctx, "DROP ROUTINE IF EXISTS "+s+" CASCADE"); err != nil {
				return err
			}
		}
		var settings bool
		err = tx.QueryRow(ctx, "SELECT to_regclass('hippocampus.settings') IS NOT NULL").Scan(&settings)
		if err != nil || !settings {
			return err
		}
		_, err = tx.Exec(ctx, "DELETE FROM hippocampus.settings WHERE app_name = '*' AND key = 'functions_checksum'")
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("drop the functions: %w", err)
	}
	return dropped, nil
}
