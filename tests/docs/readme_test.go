// Package docs_test runs what the documents show.
package docs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// readme gives the README's blocks of a language.
func readme(t *testing.T, language string) []string {
	t.Helper()
	var found []string
	for _, b := range blocks(t, "README.md") {
		if b.language == language {
			found = append(found, b.code)
		}
	}
	require.NotEmpty(t, found)
	return found
}

// TestGoBlocksCompile compiles the programs of the guides as they are, and their fragments within a function
// that has what they take for given.
func TestGoBlocksCompile(t *testing.T) {
	t.Parallel()
	root, err := dbtest.Root()
	require.NoError(t, err)
	for _, guide := range guides(t) {
		for _, b := range blocks(t, guide) {
			if b.language != "go" || b.notRun {
				continue
			}
			code := b.code
			if !strings.HasPrefix(code, "package ") {
				code = fmt.Sprintf(fragment, code)
			}
			// A package that exists for the compiler alone.
			dir := t.TempDir()
			source := filepath.Join(dir, "main.go")
			require.NoError(t, os.WriteFile(source, []byte(code), 0o600))
			overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "tests", "docs", "snippet", "main.go"): source}})
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
			build := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-e", "-overlay", filepath.Join(dir, "overlay.json"),
				"-o", os.DevNull, "./tests/docs/snippet")
			build.Dir = root
			out, _ := build.CombinedOutput()
			for line := range strings.Lines(string(out)) { // a fragment need not use what it declares
				require.Regexp(t, `^#|: declared and not used: \w+\n$`, line, "%s:%d", guide, b.line)
			}
		}
	}
}

const fragment = `package main

import (
	"context"

	"github.com/google/uuid"

	"github.com/hippocampus-memory/hippocampus/service"
)

func main() {}

func fragment(ctx context.Context, svc *service.OpenMemoryService, scope service.Scope, task string, messages []string, id uuid.UUID) {
	%s
}
`

// TestReadmeGoBlockRuns runs the program of which the README shows the middle, twice: whoever tries it tries it again.
func TestReadmeGoBlockRuns(t *testing.T) {
	t.Parallel()
	root, err := dbtest.Root()
	require.NoError(t, err)
	program, err := os.ReadFile(filepath.Join(root, "docs", "quickstart", "main.go"))
	require.NoError(t, err)
	shown := strings.Join(readme(t, "go"), "")
	require.Contains(t, string(program), regexp.MustCompile(`(?m)^`).ReplaceAllString(strings.TrimSuffix(shown, "\n"), "\t"))

	url := dbtest.DatabaseURL(dbtest.DB(t))
	for _, said := range []int{1, 2} {
		cmd := exec.CommandContext(t.Context(), "go", "run", "./docs/quickstart")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "DATABASE_URL="+url)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, said, strings.Count(string(out), "user: I moved to Porto."), string(out))
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
		for _, code := range readme(t, "sql") {
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
