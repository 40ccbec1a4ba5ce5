package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/command"
	sqlfiles "github.com/hippocampus-memory/hippocampus/sql"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// result is what a run of the command left.
type result struct {
	code           int
	stdout, stderr string
}

func migrate(t *testing.T, databaseURL string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, &stdout, &stderr, func(name string) string {
		if name == "DATABASE_URL" {
			return databaseURL
		}
		return ""
	})
	return result{code: code, stderr: stderr.String(), stdout: stdout.String()}
}

func TestRun(t *testing.T) {
	t.Parallel()
	newest := db.BinaryVersion()

	t.Run("Arguments", func(t *testing.T) {
		t.Parallel()
		for _, tt := range []struct {
			args []string
			want string
		}{
			{nil, "a command is missing"},
			{[]string{"sideways"}, `there is no command "sideways"`},
			{[]string{"up", "now"}, `up takes no arguments, but got "now"`},
			{[]string{"up", "--dimension", "0"}, "--dimension is 0, but must be between 1 and 4000"},
			{[]string{"up", "--dimension", "4001"}, "--dimension is 4001, but must be between 1 and 4000"},
			{[]string{"up", "--dimension", "many"}, "--dimension"},
			{[]string{"up", "--faster"}, "unknown flag: --faster"},
			{[]string{"down", "--to", "x"}, "--to"},
			{[]string{"down", "--to", "-1"}, "--to is -1, but must be between 0 and"},
			{[]string{"down", "--to", "99999"}, "--to is 99999, but must be between 0 and"},
			{[]string{"status", "--database-url", "postgres://127.0.0.1:99999/x"}, "the database URL can't be read"},
		} {
			r := migrate(t, "", tt.args...)
			require.Equal(t, command.ExitUsage, r.code, tt.args)
			require.Contains(t, r.stderr, "migrate: ")
			require.Contains(t, r.stderr, tt.want)
			require.Regexp(t, `\nSee "migrate( up| down| status)? --help"\.\n$`, r.stderr)
		}
	})

	t.Run("Bootstrap", func(t *testing.T) {
		t.Parallel()
		r := migrate(t, "", "bootstrap")
		require.Equal(t, command.ExitOK, r.code)
		require.Equal(t, sqlfiles.Bootstrap, r.stdout)
	})

	t.Run("Help", func(t *testing.T) {
		t.Parallel()
		for _, args := range [][]string{{"help"}, {"--help"}, {"up", "--help"}, {"help", "down"}} {
			r := migrate(t, "", args...)
			require.Equal(t, command.ExitOK, r.code)
			require.Contains(t, r.stdout, "Usage:")
			require.Empty(t, r.stderr)
		}
		require.Contains(t, migrate(t, "", "help").stdout, "Exit codes")
	})

	t.Run("Interrupted", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var stdout, stderr bytes.Buffer
		code := run(ctx, []string{"up", "--database-url", dbtest.URL(t)}, &stdout, &stderr, func(string) string { return "" })
		require.Equal(t, command.ExitInterrupted, code)
		require.Equal(t, "migrate: interrupted; start it again to go on\n", stderr.String())
	})

	t.Run("JSON", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		decode := func(r result, code int, v any) {
			t.Helper()
			require.Equal(t, code, r.code, r.stderr)
			decoder := json.NewDecoder(bytes.NewBufferString(r.stdout))
			decoder.DisallowUnknownFields()
			require.NoError(t, decoder.Decode(v))
			require.False(t, decoder.More())
		}
		var validation validationJSON
		decode(migrate(t, databaseURL, "validate", "--json"), command.ExitInvalid, &validation)
		require.False(t, validation.Valid)
		require.NotEmpty(t, validation.Problem)

		var status statusJSON
		decode(migrate(t, databaseURL, "status", "--json"), command.ExitOK, &status)
		require.Zero(t, status.Version)
		require.Equal(t, "missing", status.Functions)
		require.Empty(t, status.Pgvector)
		for _, m := range status.Migrations {
			require.Nil(t, m.AppliedAt)
		}

		var report reportJSON
		decode(migrate(t, databaseURL, "up", "--json", "--dimension", "5"), command.ExitOK, &report)
		require.Equal(t, 5, report.Dimension)
		require.Equal(t, newest, report.To)
		require.Len(t, report.Applied, len(status.Migrations))

		var version versionJSON
		decode(migrate(t, databaseURL, "version", "--json"), command.ExitOK, &version)
		require.Equal(t, versionJSON{BinaryVersion: newest, Version: newest}, version)

		validation = validationJSON{}
		decode(migrate(t, databaseURL, "validate", "--json"), command.ExitOK, &validation)
		require.True(t, validation.Valid)

		report = reportJSON{}
		decode(migrate(t, databaseURL, "down", "--json", "--yes", "--to", "0"), command.ExitOK, &report)
		require.Equal(t, newest, report.From)
		require.Zero(t, report.To)
	})

	t.Run("Newer", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		require.Equal(t, command.ExitOK, migrate(t, databaseURL, "up").code)
		conn, err := pgx.Connect(t.Context(), databaseURL)
		require.NoError(t, err)
		defer func() { _ = conn.Close(t.Context()) }()
		_, err = conn.Exec(t.Context(), "INSERT INTO hippocampus.goose_db_version (version_id, is_applied) VALUES (99999, true)")
		require.NoError(t, err)
		for _, args := range [][]string{{"up"}, {"validate"}, {"down", "--yes"}} {
			r := migrate(t, databaseURL, args...)
			require.Equal(t, command.ExitNewer, r.code, args)
			require.Contains(t, r.stderr, "use a newer binary")
		}
		require.Contains(t, migrate(t, databaseURL, "status").stdout, "99999, unknown to this binary")
	})

	t.Run("NoConnection", func(t *testing.T) {
		t.Parallel()
		missing := dbtest.WithDatabase(t, dbtest.URL(t), "hippocampus_test_none")
		for _, args := range [][]string{{"up"}, {"down"}, {"status"}, {"validate"}, {"version"}} {
			// The flag comes before the environment.
			r := migrate(t, "postgres://no.such.host.invalid/", append(args, "--database-url", missing)...)
			require.Equal(t, command.ExitConnect, r.code)
			require.Regexp(t, `^migrate: no connection: .* has no database hippocampus_test_none: .*\n$`, r.stderr)
		}
	})

	t.Run("Tables", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		r := migrate(t, databaseURL, "status")
		require.Equal(t, command.ExitOK, r.code, r.stderr)
		require.Regexp(t, `(?m)^pgvector +not installed in this database$`, r.stdout)
		require.Regexp(t, `(?m)^00001_create_schema\.sql +pending$`, r.stdout)

		r = migrate(t, databaseURL, "validate")
		require.Equal(t, command.ExitInvalid, r.code)
		require.Contains(t, r.stderr, "run migrate up")

		r = migrate(t, databaseURL, "up", "-v")
		require.Equal(t, command.ExitOK, r.code, r.stderr)
		require.Regexp(t, `(?m)^up  00002_create_river\.go +[0-9]+ ms$`, r.stdout)
		require.Contains(t, r.stdout, fmt.Sprintf("from version 0 to %d", newest))
		require.Contains(t, r.stdout, "Its embeddings have dimension 1536.")
		require.Contains(t, r.stderr, "migration=00001_create_schema.sql")

		r = migrate(t, databaseURL, "up")
		require.Equal(t, fmt.Sprintf("Nothing to do: the database is at version %d.\n", newest), r.stdout)
		require.Empty(t, r.stderr)

		r = migrate(t, databaseURL, "status")
		require.Regexp(t, `(?m)^dimension +1536$`, r.stdout)
		require.Regexp(t, `(?m)^00001_create_schema\.sql +20..-..-..T..:..:..Z$`, r.stdout)

		require.Regexp(t, fmt.Sprintf(`^database +%d\nbinary +%d\n$`, newest, newest), migrate(t, databaseURL, "version").stdout)
		require.Contains(t, migrate(t, databaseURL, "validate").stdout, "Valid: ")

		r = migrate(t, databaseURL, "up", "--dimension", "3")
		require.Equal(t, command.ExitInvalid, r.code)
		require.Contains(t, r.stderr, "dimension 3 was asked for, but the embeddings in this database have 1536")

		r = migrate(t, databaseURL, "down")
		require.Equal(t, command.ExitUsage, r.code)
		require.Contains(t, r.stderr, fmt.Sprintf("from version %d to %d", newest, newest-1))
		require.Contains(t, r.stderr, "run it again with --yes")
		require.Equal(t, command.ExitUsage, migrate(t, databaseURL, "down", "--to", fmt.Sprint(newest+1), "--yes").code)

		r = migrate(t, databaseURL, "down", "--yes")
		require.Equal(t, command.ExitOK, r.code, r.stderr)
		require.Contains(t, r.stdout, "functions dropped")
		require.Contains(t, migrate(t, databaseURL, "version").stdout, fmt.Sprint(newest-1))

		require.Equal(t, command.ExitOK, migrate(t, databaseURL, "down", "--to", "0", "--yes").code)
		for _, args := range [][]string{{"down"}, {"down", "--yes"}, {"down", "--to", "0"}} { // of nothing, as of what never was
			for _, databaseURL := range []string{databaseURL, dbtest.Empty(t, "")} {
				require.Equal(t, result{stdout: "Nothing to do: the database is at version 0.\n"}, migrate(t, databaseURL, args...))
			}
		}
		require.Contains(t, migrate(t, databaseURL, "down", "--to", "1").stderr, "can't go down to version 1 from version 0")
	})
}
