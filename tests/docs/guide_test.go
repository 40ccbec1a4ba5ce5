package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// block is a fenced block of a document.
type block struct {
	code     string
	language string
	line     int
	notRun   bool // it says why, in a comment before it
}

var (
	fence  = regexp.MustCompile("^```([a-z]*)$")
	notRun = regexp.MustCompile(`^<!-- not run: .{10,} -->$`)
	indent = regexp.MustCompile(`^( {4}|\t)\S`)
)

// blocks reads the fenced blocks of a document.
func blocks(t *testing.T, document string) []*block {
	t.Helper()
	root, err := dbtest.Root()
	require.NoError(t, err)
	raw, err := os.ReadFile(filepath.Join(root, document))
	require.NoError(t, err)
	var (
		found  []*block
		open   *block
		before string
	)
	for i, line := range strings.Split(string(raw), "\n") {
		opens := fence.FindStringSubmatch(line)
		switch {
		case open == nil && opens != nil:
			require.NotEmpty(t, opens[1], "%s:%d: a block without a language", document, i+1)
			open = &block{language: opens[1], line: i + 1, notRun: notRun.MatchString(before)}
		case open == nil:
			require.False(t, before == "" && indent.MatchString(line), "%s:%d: code that is indented is not run; fence it", document, i+1)
		case line == "```":
			found = append(found, open)
			open = nil
		default:
			open.code += line + "\n"
		}
		before = line
	}
	require.Nil(t, open, "%s: a block is not closed", document)
	return found
}

// guides are the documents that a reader follows from top to bottom.
func guides(t *testing.T) []string {
	t.Helper()
	root, err := dbtest.Root()
	require.NoError(t, err)
	documents := []string{"README.md"}
	found, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	for _, path := range found {
		if name := filepath.Base(path); name != "sql-api.md" { // generated: signatures, not statements
			documents = append(documents, filepath.Join("docs", name))
		}
	}
	return documents
}

// TestGuidesRun pastes each guide into a shell, from top to bottom: its shell blocks as they are, its SQL
// blocks into psql, those once more at the end: whoever tries them tries them again. A block that can't be
// run says why in a comment before it.
func TestGuidesRun(t *testing.T) {
	t.Parallel()
	root, err := dbtest.Root()
	require.NoError(t, err)
	build := exec.CommandContext(t.Context(), "make", "build") // once, since all guides begin with it
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	embedder := httptest.NewServer(http.HandlerFunc(embed))
	t.Cleanup(embedder.Close)

	for _, guide := range guides(t) {
		t.Run(guide, func(t *testing.T) {
			t.Parallel()
			script := "set -euo pipefail\neval \"$(scripts/postgres env | grep PATH= || true)\"\n"
			run, again := 0, ""
			for _, b := range blocks(t, guide) {
				script += fmt.Sprintf("echo '@ %s:%d' >&2\n", guide, b.line)
				switch {
				case b.notRun:
					continue
				case b.language == "sh":
					script += b.code
				case b.language == "sql":
					sql := "psql -qX -v ON_ERROR_STOP=1 \"$DATABASE_URL\" <<'END_OF_BLOCK'\n" + b.code + "END_OF_BLOCK\n"
					script += sql
					again += fmt.Sprintf("echo '@ %s:%d, again' >&2\n", guide, b.line) + sql
				default:
					continue
				}
				run++
			}
			if run == 0 {
				return
			}
			cmd := exec.CommandContext(t.Context(), "bash", "-c", script+again)
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "DATABASE_URL="+dbtest.DatabaseURL(dbtest.DB(t, dbtest.Dimension(1536))), "OPENAI_BASE_URL="+embedder.URL)
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &said, &said
			require.NoError(t, cmd.Run(), said.String())
		})
	}
}

// embed is an embedding model for the guide that changes it: a text's vector is made of its letters.
func embed(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Dimensions int      `json:"dimensions"`
		Input      []string `json:"input"`
		Model      string   `json:"model"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	type row struct {
		Embedding []float32 `json:"embedding"`
		Index     int       `json:"index"`
		Object    string    `json:"object"`
	}
	rows := make([]row, len(request.Input))
	for i, text := range request.Input {
		vector := make([]float32, request.Dimensions)
		for _, letter := range text {
			vector[int(letter)%request.Dimensions]++
		}
		rows[i] = row{Embedding: vector, Index: i, Object: "embedding"}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"data": rows, "model": request.Model, "object": "list"})
}
