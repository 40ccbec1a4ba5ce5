package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestIndex(t *testing.T) {
	t.Parallel()
	r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
	path := write(t, "tea.md", "# Tea", "", "## Green tea", "", "Green tea is steeped at eighty degrees, for two minutes at most.")
	first, _ := r.ok("index", path, "--source", "notes", "--rebuild")
	require.Regexp(t, `tea.md +1 +0 +0 +0 +1 `, first)
	again, _ := r.ok("index", path, "--source", "notes")
	require.Regexp(t, `tea.md +0 +1 +0 +0 +0 `, again)
}

// A file whose name is no text is left out, and named; the others are stored.
func TestIndexNames(t *testing.T) {
	t.Parallel()
	r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
	dir := filepath.Dir(write(t, "tea.md", "# Tea", "", "Green tea is steeped at eighty degrees."))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "caf\xe9.md"), []byte("Coffee."), 0o600))
	table, told := r.ok("index", dir, "--as", "drinks", "--no-worker", "--verbose")
	require.Regexp(t, ` 1 +0 +0 +1 +1 `, table)
	require.Contains(t, told, `xe9.md`)
}

// A generation whose rows could not be embedded never serves, even with --switch.
func TestReembedUnreachable(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
	r.ok("remember", "green tea is steeped at eighty degrees")
	r.env["OPENAI_BASE_URL"], r.env["OPENAI_API_KEY"] = server.URL, "key"
	message := r.fails(exitFailed, "reembed", "--provider", "openai", "--model", "other", "--dimension", "96", "--switch")
	require.Contains(t, message, "generation 2 (openai/other) has 0 vectors, 1 rows have none: ")
	require.Contains(t, message, "404")
	status, _ := r.ok("reembed", "status")
	require.Regexp(t, `2 +building`, status)
}
