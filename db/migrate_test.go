package db_test

import (
	"context"
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// files are the binary's migrations and some more, and functions of the test's own.
type files struct {
	migrations map[string]string
	functions  map[string]string
}

// up migrates a database with these files.
func (f files) up(ctx context.Context, t *testing.T, databaseURL string) (*db.MigrationReport, error) {
	t.Helper()
	m := f.migrator(ctx, t, databaseURL)
	return m.Up(ctx)
}

func (f files) migrator(ctx context.Context, t *testing.T, databaseURL string) *db.Migrator {
	t.Helper()
	schema, functions := fstest.MapFS{}, fstest.MapFS{}
	names, err := fs.Glob(db.SchemaFiles(), "*.sql")
	require.NoError(t, err)
	for _, name := range names {
		body, err := fs.ReadFile(db.SchemaFiles(), name)
		require.NoError(t, err)
		schema[name] = &fstest.MapFile{Data: body}
	}
	for name, body := range f.migrations {
		schema[name] = &fstest.MapFile{Data: []byte(body)}
	}
	for name, body := range f.functions {
		functions[name+".sql"] = &fstest.MapFile{Data: []byte(body)}
	}
	m, err := db.NewMigrator(ctx, databaseURL, &db.MigratorConfig{Dimension: dbtest.DefaultDimension})
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Close() })
	m.SetFiles(schema, functions)
	return m
}

func function(name, arguments, body string) string {
	return "CREATE OR REPLACE FUNCTION hippocampus." + name + "(" + arguments + ") RETURNS integer\n" +
		"LANGUAGE sql\n" + body + ";\n"
}

func newPool(t *testing.T, databaseURL string) *pgxpool.Pool {
	t.Helper()
	pool, err := db.NewPool(t.Context(), &db.Config{DatabaseURL: databaseURL})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// call gives the result of a function of the test.
func call(t *testing.T, pool *pgxpool.Pool, expression string) int {
	t.Helper()
	var result int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT hippocampus."+expression).Scan(&result))
	return result
}

func TestMigratorFunctions(t *testing.T) {
	t.Parallel()

	one := files{functions: map[string]string{"one": function("one", "", "RETURN 1")}}
	setup := func(t *testing.T) string {
		t.Helper()
		databaseURL := dbtest.Empty(t, "")
		report, err := one.up(t.Context(), t, databaseURL)
		require.NoError(t, err)
		require.Equal(t, 1, report.Functions)
		return databaseURL
	}

	t.Run("AllOrNothing", func(t *testing.T) {
		t.Parallel()
		databaseURL := setup(t)
		_, err := files{functions: map[string]string{
			"one": function("one", "", "RETURN 2"),
			"two": "-- A purpose, and more of it: ü.\n" + function("two", "", "RETURN nosuch"),
		}}.up(t.Context(), t, databaseURL)
		require.ErrorContains(t, err, "apply sql/functions: two.sql:4: ")
		require.Equal(t, 1, call(t, newPool(t, databaseURL), "one()"))
		require.NoError(t, one.migrator(t.Context(), t, databaseURL).Validate(t.Context()))
	})

	t.Run("AnotherResult", func(t *testing.T) {
		t.Parallel()
		databaseURL := setup(t)
		_, err := files{functions: map[string]string{
			"one": "CREATE OR REPLACE FUNCTION hippocampus.one() RETURNS text LANGUAGE sql RETURN '1';",
		}}.up(t.Context(), t, databaseURL)
		require.ErrorContains(t, err, "one.sql: ")
		require.ErrorContains(t, err, "is dropped by a migration in sql/schema")
	})

	t.Run("Missing", func(t *testing.T) {
		t.Parallel()
		databaseURL := setup(t)
		pool := newPool(t, databaseURL)
		_, err := pool.Exec(t.Context(), "DROP FUNCTION hippocampus.one()")
		require.NoError(t, err)
		err = one.migrator(t.Context(), t, databaseURL).Validate(t.Context())
		require.ErrorIs(t, err, db.ErrInvalidSchema)
		require.ErrorContains(t, err, "no function of these names one")
		report, err := one.up(t.Context(), t, databaseURL)
		require.NoError(t, err)
		require.Equal(t, 1, report.Functions)
		require.Equal(t, 1, call(t, pool, "one()"))
	})

	t.Run("OfAnotherName", func(t *testing.T) {
		t.Parallel()
		databaseURL := setup(t)
		_, err := files{functions: map[string]string{
			"one":   function("one", "", "RETURN 1"),
			"three": function("two", "", "RETURN 2"),
		}}.up(t.Context(), t, databaseURL)
		require.ErrorContains(t, err, "no file makes two()")
		require.ErrorContains(t, err, "no function of these names three")
	})

	t.Run("Overload", func(t *testing.T) {
		t.Parallel()
		databaseURL := setup(t)
		changed := files{functions: map[string]string{"one": function("one", "a integer DEFAULT 5", "RETURN a")}}
		_, err := changed.up(t.Context(), t, databaseURL)
		require.ErrorContains(t, err, "more than one function of a name one(), one(a integer)")
		require.Equal(t, 1, call(t, newPool(t, databaseURL), "one()"))

		// As it must be done.
		changed.migrations = map[string]string{
			"00090_drop_one.sql": "-- +goose Up\nDROP FUNCTION hippocampus.one();\n-- +goose Down\n",
		}
		report, err := changed.up(t.Context(), t, databaseURL)
		require.NoError(t, err)
		require.Equal(t, 1, report.Functions)
		require.Equal(t, 5, call(t, newPool(t, databaseURL), "one()"))
	})

	t.Run("Stray", func(t *testing.T) {
		t.Parallel()
		databaseURL := setup(t)
		pool := newPool(t, databaseURL)
		_, err := pool.Exec(t.Context(), "CREATE PROCEDURE hippocampus.stray(a text) LANGUAGE sql AS ''")
		require.NoError(t, err)
		m := one.migrator(t.Context(), t, databaseURL)
		err = m.Validate(t.Context())
		require.ErrorIs(t, err, db.ErrInvalidSchema)
		require.ErrorContains(t, err, "no file makes stray(IN a text)")
		require.ErrorContains(t, err, "not owned by hippocampus_owner: hippocampus.stray(text)")
		_, err = m.Up(t.Context())
		require.ErrorContains(t, err, "no file makes stray(IN a text)")
	})

	// guarded is a trigger on two tables, the second of which is written first.
	guarded := func(body string) files {
		return files{functions: map[string]string{"guard": `CREATE OR REPLACE FUNCTION hippocampus.guard() RETURNS trigger
			LANGUAGE plpgsql AS 'BEGIN ` + body + ` RETURN NEW; END';
			CREATE OR REPLACE TRIGGER guard_events BEFORE INSERT ON hippocampus.events FOR EACH ROW EXECUTE FUNCTION hippocampus.guard();
			CREATE OR REPLACE TRIGGER guard_memories BEFORE INSERT ON hippocampus.memories FOR EACH ROW EXECUTE FUNCTION hippocampus.guard();`}}
	}

	// Who writes is never the victim of a deadlock, and waits for no migration that waits itself.
	t.Run("WhileOthersWrite", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		_, err := guarded("").up(t.Context(), t, databaseURL)
		require.NoError(t, err)
		pool := newPool(t, databaseURL)
		writer, err := pool.Begin(t.Context())
		require.NoError(t, err)
		defer writer.Rollback(t.Context())
		_, err = writer.Exec(t.Context(), "LOCK TABLE hippocampus.memories IN ROW EXCLUSIVE MODE")
		require.NoError(t, err)
		migrated := make(chan error, 1)
		m := guarded("NULL;").migrator(t.Context(), t, databaseURL)
		go func() {
			_, err := m.Up(t.Context())
			migrated <- err
		}()
		require.Eventually(t, func() bool { // it holds events by now
			var waits bool
			err := pool.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_locks l WHERE $1 = ANY (pg_blocking_pids(l.pid)))", writer.Conn().PgConn().PID()).Scan(&waits)
			return err == nil && waits
		}, time.Minute, time.Millisecond)
		_, err = writer.Exec(t.Context(), "LOCK TABLE hippocampus.events IN ROW EXCLUSIVE MODE")
		require.NoError(t, err)
		require.NoError(t, writer.Commit(t.Context()))
		require.NoError(t, <-migrated)
	})

	t.Run("WhileATransactionStaysOpen", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		_, err := guarded("").up(t.Context(), t, databaseURL)
		require.NoError(t, err)
		writer, err := newPool(t, databaseURL).Begin(t.Context())
		require.NoError(t, err)
		defer writer.Rollback(t.Context())
		_, err = writer.Exec(t.Context(), "LOCK TABLE hippocampus.memories IN ROW EXCLUSIVE MODE")
		require.NoError(t, err)
		m := guarded("NULL;").migrator(t.Context(), t, databaseURL)
		m.SetPatience(0)
		_, err = m.Up(t.Context())
		require.ErrorIs(t, err, db.ErrConflict)
		require.ErrorContains(t, err, fmt.Sprintf("process %d (", writer.Conn().PgConn().PID()))
		require.ErrorContains(t, err, ") with memories: end these transactions")
		require.NoError(t, writer.Commit(t.Context()))
		report, err := m.Up(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, report.Functions)
	})

	// Where there is nothing to do, those who write are not asked.
	t.Run("UpToDateWhileOthersWrite", func(t *testing.T) {
		t.Parallel()
		databaseURL := setup(t)
		writer, err := newPool(t, databaseURL).Begin(t.Context())
		require.NoError(t, err)
		defer writer.Rollback(t.Context())
		_, err = writer.Exec(t.Context(), `DO $$ BEGIN EXECUTE (SELECT 'LOCK TABLE ' || string_agg(c.oid::regclass::text, ', ') || ' IN ROW EXCLUSIVE MODE'
			FROM pg_class c WHERE c.relnamespace = 'hippocampus'::regnamespace AND c.relkind = 'r'); END $$`)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		report, err := one.up(ctx, t, databaseURL)
		require.NoError(t, err)
		require.Zero(t, report.Functions)
	})

	t.Run("WhateverTheirOrder", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		report, err := files{functions: map[string]string{
			"_a": function("_a", "", "RETURN hippocampus.b() + 1"),
			"b":  function("b", "", "RETURN hippocampus.c() + 1"),
			"c":  function("c", "", "RETURN 1"),
		}}.up(t.Context(), t, databaseURL)
		require.NoError(t, err)
		require.Equal(t, 3, report.Functions)
		require.Equal(t, 3, call(t, newPool(t, databaseURL), "_a()"))

		_, err = files{functions: map[string]string{
			"d": function("d", "", "RETURN hippocampus.nosuch()"),
		}}.up(t.Context(), t, databaseURL)
		require.ErrorContains(t, err, "d.sql:3: ")
		require.ErrorContains(t, err, "function hippocampus.nosuch() does not exist")
	})
}

func TestMigratorMigrations(t *testing.T) {
	t.Parallel()

	t.Run("NoLimitOfTheLogins", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		pool := newPool(t, databaseURL)
		_, err := pool.Exec(t.Context(), `DO $$ DECLARE v_name text; BEGIN
			FOR v_name IN SELECT s.name FROM pg_settings s WHERE s.name ~ '^(idle|lock|statement|transaction).*_timeout$' LOOP
				EXECUTE format('ALTER DATABASE %I SET %I = ''1h''', current_database(), v_name);
			END LOOP;
		END $$`)
		require.NoError(t, err)
		_, err = files{migrations: map[string]string{"00099_note_limits.sql": `-- +goose Up
			CREATE TABLE hippocampus.limits AS SELECT s.name FROM pg_catalog.pg_settings s
			WHERE s.name ~ '^(idle|lock|statement|transaction).*_timeout$' AND s.setting <> '0';`}}.up(t.Context(), t, databaseURL)
		require.NoError(t, err)
		var limits []string
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT array_agg(l.name::text) FROM hippocampus.limits l").Scan(&limits))
		require.Empty(t, limits)
	})

	t.Run("Breaking", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		binary := db.BinaryVersion()
		_, err := files{}.up(t.Context(), t, databaseURL)
		require.NoError(t, err)
		pool := newPool(t, databaseURL)
		require.NoError(t, db.CheckCompatible(t.Context(), pool))
		require.ErrorIs(t, db.CheckCompatibleWith(t.Context(), pool, binary+1), db.ErrNotMigrated)

		newer := files{migrations: map[string]string{
			"00090_harmless.sql": "-- This is not a breaking-change.\n\n-- +goose Up\nSELECT 1;\n-- +goose Down\n",
		}}
		_, err = newer.up(t.Context(), t, databaseURL)
		require.NoError(t, err)
		require.NoError(t, db.CheckCompatible(t.Context(), pool))

		newer.migrations["00091_breaking.sql"] = "-- Why.\n-- breaking-change\n-- +goose Up\nSELECT 1;\n-- +goose Down\n"
		newer.migrations["00092_harmless.sql"] = newer.migrations["00090_harmless.sql"]
		m := newer.migrator(t.Context(), t, databaseURL)
		_, err = m.Up(t.Context())
		require.NoError(t, err)
		err = db.CheckCompatible(t.Context(), pool)
		require.ErrorIs(t, err, db.ErrDatabaseNewer)
		require.ErrorContains(t, err, "at version 92, and its version 91 broke")
		require.NoError(t, db.CheckCompatibleWith(t.Context(), pool, 91))
		require.NoError(t, db.CheckCompatibleWith(t.Context(), pool, 92))

		_, err = m.Down(t.Context(), 90)
		require.NoError(t, err)
		require.NoError(t, db.CheckCompatible(t.Context(), pool))
	})

	t.Run("ConcurrentIndexWhileOthersWait", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		f := files{migrations: map[string]string{
			"00090_index.sql": "-- +goose NO TRANSACTION\n-- +goose Up\n" +
				"CREATE INDEX CONCURRENTLY ninety_idx ON hippocampus.threads (updated_at);\n-- +goose Down\n",
		}}
		const processes = 4
		errs := make(chan error)
		for range processes {
			m := f.migrator(ctx, t, databaseURL)
			go func() {
				_, err := m.Up(ctx)
				errs <- err
			}()
		}
		for range processes {
			require.NoError(t, <-errs)
		}
	})

	t.Run("Fails", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		broken := files{migrations: map[string]string{
			"00090_good.sql":   "-- +goose Up\nCREATE TABLE hippocampus.good ();\n-- +goose Down\nDROP TABLE hippocampus.good;\n",
			"00091_broken.sql": "-- +goose Up\nCREATE TABLE hippocampus.half ();\nSELECT hippocampus.nosuch();\n-- +goose Down\n",
		}}
		report, err := broken.up(t.Context(), t, databaseURL)
		require.ErrorContains(t, err, "run migration 00091_broken.sql: ")
		require.ErrorContains(t, err, "function hippocampus.nosuch() does not exist")
		require.Equal(t, int64(90), report.To)
		require.Equal(t, "00090_good.sql", report.Applied[len(report.Applied)-1].Name)

		broken.migrations["00091_broken.sql"] = "-- +goose Up\nCREATE TABLE hippocampus.half ();\n-- +goose Down\n"
		report, err = broken.up(t.Context(), t, databaseURL)
		require.NoError(t, err)
		require.Equal(t, int64(90), report.From)
		require.Len(t, report.Applied, 1)
	})

	t.Run("Missing", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		f := files{migrations: map[string]string{"00091_later.sql": "-- +goose Up\nSELECT 1;\n-- +goose Down\n"}}
		_, err := f.up(t.Context(), t, databaseURL)
		require.NoError(t, err)
		f.migrations["00090_earlier.sql"] = f.migrations["00091_later.sql"]
		err = f.migrator(t.Context(), t, databaseURL).Validate(t.Context())
		require.ErrorContains(t, err, "migration 00090_earlier.sql was not applied")
		_, err = f.up(t.Context(), t, databaseURL)
		require.ErrorContains(t, err, "90")
	})
}

func TestCheckServer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                 string
		server               int
		installed, available string
		want                 string // empty: it is fine
	}{
		{"Fine", 160000, "0.8.0", "0.8.0", ""},
		{"FineAndNewer", 180003, "", "0.10.1", ""},
		{"FineThoughFilesAreGone", 170002, "0.8.0", "", ""},
		{"OldPostgres", 150009, "0.8.0", "0.8.0", "needs Postgres 16 or newer"},
		{"VectorNotThere", 170002, "", "", "the package postgresql-17-pgvector"},
		{"VectorOld", 160004, "", "0.7.4", "the server has pgvector 0.7.4, but Hippocampus needs 0.8 or newer"},
		{"VectorOldButUpgradable", 160004, "0.7.4", "0.8.1", "ALTER EXTENSION vector UPDATE"},
		{"VectorOldInstalled", 160004, "0.5.1", "0.5.1", "the database memory has pgvector 0.5.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := db.CheckServer(tt.server, tt.installed, tt.available)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, db.ErrServer)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestVersionLess(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"0.7.4", "0.8", true},
		{"0.8", "0.8", false},
		{"0.8", "0.8.0", false},
		{"0.8.0", "0.10", true},
		{"0.10.0", "0.8", false},
		{"1", "0.8", false},
		{"0.8.0beta2", "0.8", false},
		{"", "0.8", true},
	} {
		require.Equal(t, tt.want, db.VersionLess(tt.a, tt.b), "%s < %s", tt.a, tt.b)
	}
}
