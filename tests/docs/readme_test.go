// Package docs_test runs what the documents show.
package docs_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// blocks gives the fenced blocks of a language in the README.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	return blocksOf(t, "README.md", language)
}

// blocksOf gives those of a document, by its path in the repository.
func blocksOf(t *testing.T, path, language string) []string {
	t.Helper()
	root, err := dbtest.Root()
	require.NoError(t, err)
	raw, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	var found []string
	for _, part := range strings.Split(string(raw), "```"+language+"\n")[1:] {
		code, _, closed := strings.Cut(part, "```")
		require.True(t, closed, "a block of %s is not closed", language)
		found = append(found, code)
	}
	require.NotEmpty(t, found)
	return found
}

func TestReadmeGoBlocksCompile(t *testing.T) {
	t.Parallel()
	root, err := dbtest.Root()
	require.NoError(t, err)
	for _, code := range blocks(t, "go") {
		// A package that exists for the compiler alone.
		dir := t.TempDir()
		source := filepath.Join(dir, "main.go")
		require.NoError(t, os.WriteFile(source, []byte(code), 0o600))
		overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "tests", "docs", "snippet", "main.go"): source}})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
		build := exec.CommandContext(t.Context(), "go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", os.DevNull, "./tests/docs/snippet")
		build.Dir = root
		out, err := build.CombinedOutput()
		require.NoError(t, err, string(out))
	}
}

func TestReadmeSQLBlocksRun(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	pool := dbtest.DB(t)
	conn, err := pool.Acquire(ctx)
	require.NoError(t, err)
	defer conn.Release()
	for range 2 { // whoever tries it tries it again
		for _, code := range blocks(t, "sql") {
			results, err := conn.Conn().PgConn().Exec(ctx, code).ReadAll()
			require.NoError(t, err, code)
			rows := 0
			for _, r := range results {
				rows += len(r.Rows)
			}
			require.Greater(t, rows, 5, "it shows something")
		}
	}
	var stored string
	err = conn.QueryRow(ctx, "SELECT content FROM hippocampus.memories WHERE user_id = 'ada'").Scan(&stored)
	require.NotErrorIs(t, err, pgx.ErrNoRows)
	require.Equal(t, "Ada moved to Porto in 2026", stored)
}
