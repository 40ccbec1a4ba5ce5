package docs_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// TestArchitectureNamesTables looks for every table of the schema in the list of tables.
func TestArchitectureNamesTables(t *testing.T) {
	t.Parallel()
	root, err := dbtest.Root()
	require.NoError(t, err)
	rows, err := dbtest.Tx(t).Query(t.Context(), `SELECT c.relname::text FROM pg_catalog.pg_class c
		WHERE c.relnamespace = 'hippocampus'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname !~ '^(river|goose)_'`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Contains(t, tables, "events")
	architecture := read(t, root, filepath.Join("docs", "architecture.md"))
	for _, table := range tables {
		require.Contains(t, architecture, "`"+table+"`")
	}
}

// TestErrorsAreListed compares the guide to errors with the codes that db/errors.go has a sentinel for.
func TestErrorsAreListed(t *testing.T) {
	t.Parallel()
	root, err := dbtest.Root()
	require.NoError(t, err)
	guide := read(t, root, filepath.Join("docs", "errors.md"))
	cases := regexp.MustCompile(`case ((?:"\w{5}"(?:, )?)+):.*\n\t\treturn (Err\w+)`).FindAllStringSubmatch(read(t, root, filepath.Join("db", "errors.go")), -1)
	require.Greater(t, len(cases), 15)
	for _, found := range cases {
		for _, code := range strings.Split(strings.ReplaceAll(found[1], `"`, ""), ", ") {
			require.Regexp(t, `(?m)^\|[^|]*\b`+code+`\b[^|]*\| `+"`"+found[2]+"`"+` \|`, guide)
		}
	}
}
