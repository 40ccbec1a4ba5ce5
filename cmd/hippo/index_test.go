package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestIndex(t *testing.T) {
	t.Parallel()
	pool := dbtest.DB(t)
	r := newRunner(t, dbtest.DatabaseURL(pool))
	dir, outside := filepath.Join(t.TempDir(), "guide"), t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	long := strings.Repeat(" It is steeped for two minutes at most, and never longer.", 8)
	put("tea.md", "# Tea\n\nAll teas come from one plant."+long+"\n\n## Green tea\n\nGreen tea is steeped at eighty degrees."+long+"\n")
	put("cold/.gitignore", "*\n!kept.md\n")
	put("cold/kept.md", "# Cold brew\n\nCold brew stands overnight.\n")
	put("cold/draft.md", "# Draft\n\nThis is unfinished.\n")
	put("latin.md", "caf\xe9")
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret.md"), []byte("# Secret\n\nIt is nobody's."), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(dir, "link.md")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "linked")))
	index := func(args ...string) *indexReport {
		t.Helper()
		var reports []*indexReport
		r.json(&reports, append([]string{"index", dir, "--source", "notes"}, args...)...)
		require.Len(t, reports, 1)
		require.Equal(t, dir, reports[0].Path)
		reports[0].Path = ""
		return reports[0]
	}
	// brought are the documents that an anchor brings.
	brought := func(anchor string, args ...string) (paths []string) {
		t.Helper()
		var hits []*service.AnchorHit
		r.json(&hits, append([]string{"anchors", "lookup"}, args...)...)
		for _, h := range hits {
			if slices.Contains(h.Anchors, anchor) {
				paths = append(paths, h.Path)
			}
		}
		return paths
	}

	require.Equal(t, &indexReport{Files: 2, Skipped: 1, Added: 3}, index("--rebuild"))
	require.Equal(t, &indexReport{Unchanged: 2, Skipped: 1}, index())
	require.Contains(t, r.fails(command.ExitFailed, "index", outside, "--as", "guide"), "another name with --as")

	// thresholds that such a small corpus cannot tell
	_, err := pool.Exec(t.Context(), `SELECT hippocampus.put_setting('*', 'anchors', s.value || '{"theta": 0.25, "semantic_theta": 0.6}')
		FROM hippocampus.settings s WHERE s.key = 'anchors' AND s.app_name = '*'`)
	require.NoError(t, err)
	require.Contains(t, r.fails(command.ExitFailed, "anchors", "calibrate", "--write"), "there is too little to measure")
	stdout, _ := r.ok("search", "--documents", "--source", "notes", "what temperature for green tea?")
	require.Regexp(t, `^SCORE +WORDS +MEANING +WHERE +HEADING +TEXT\n0\.\d+ +\d\.\d+ +\d\.\d+ +guide/tea.md:5 +Tea > Green tea +## Green tea Green tea is steeped`, stdout)
	stdout, _ = r.ok("search", "--documents", "--source", "docs", "green tea")
	require.Contains(t, stdout, "The user me of the app hippo has no document that answers this.")
	var chunks []*service.ChunkHit
	r.json(&chunks, "search", "--documents", "--limit", "1", "cold brew")
	require.Len(t, chunks, 1)
	require.Equal(t, "guide/cold/kept.md", chunks[0].Path)
	require.Contains(t, r.fails(command.ExitUsage, "search", "--source", "notes", "x"), "--source wants --documents")
	require.Contains(t, r.fails(command.ExitUsage, "search", "--documents", "--explain", "x"), "--explain is of memories")
	stdout, _ = r.ok("anchors", "rebuild")
	require.Regexp(t, `ANCHORS +NEW VECTORS +ROWS READ`, stdout)
	require.Contains(t, brought("Green tea", "what about Green Tea?"), "guide/tea.md")
	require.Contains(t, brought("Cold brew", "how long", "--project", "cold brew"), "guide/cold/kept.md")
	stdout, _ = r.ok("anchors", "lookup", "green tea")
	require.Regexp(t, `guide/tea.md:5 +Green tea \(lexical\)`, stdout)
	var window service.ContextWindow
	r.json(&window, "context", "--documents", "--project", "cold brew", "how long")
	require.Contains(t, window.Text, "\n- [document] guide/cold/kept.md:1: # Cold brew\n")
	require.LessOrEqual(t, window.Tokens, window.TokenEstimate)
	r.json(&window, "context", "how long")
	require.NotContains(t, window.Text, "guide/")
	require.Contains(t, r.fails(command.ExitUsage, "context", "--project", "cold brew", "how long"), "--project wants --documents")
	stdout, _ = r.ok("anchors", "status")
	require.Regexp(t, `(?m)^documents +2$`, stdout)
	require.Regexp(t, `(?m)^sources allowed +all$`, stdout)

	r.ok("anchors", "deny", "green teas", "secret")
	require.Empty(t, brought("Green tea", "what about Green Tea?"))
	require.Contains(t, r.fails(command.ExitFailed, "anchors", "deny", "the"), "'the' cannot be an anchor")
	stdout, _ = r.ok("anchors", "status")
	require.Regexp(t, `(?m)^anchors denied +2: green teas, secret$`, stdout)
	r.ok("anchors", "deny")
	r.ok("anchors", "sources", "docs")
	require.Empty(t, brought("Green tea", "what about Green Tea?"))
	put("new.md", "# New\n\nIt may not come in.\n")
	require.Contains(t, r.fails(command.ExitFailed, "index", dir, "--source", "notes"), "'notes' is not on the allowlist")
	r.ok("anchors", "sources")
	require.NotEmpty(t, brought("Green tea", "what about Green Tea?"))

	put("tea.md", "# Tea\n\nAll teas come from one plant."+long+"\n\n## Green tea\n\nGreen tea is steeped at seventy degrees."+long+"\n")
	require.Equal(t, &indexReport{Files: 2, Unchanged: 1, Skipped: 1, Added: 2, Kept: 1, Gone: 1}, index())
	require.Contains(t, brought("Green tea", "what about Green Tea?"), "guide/tea.md", "it entered the list at once")
	require.NoError(t, os.Remove(filepath.Join(dir, "tea.md")))
	require.Equal(t, &indexReport{Unchanged: 2, Deleted: 1, Skipped: 1}, index())
	require.Empty(t, brought("Green tea", "what about Green Tea?"), "with its anchors")
}

// Thresholds are measured where there is enough to measure, and are the app's own unless they are asked to be everybody's.
func TestAnchorsCalibrate(t *testing.T) {
	t.Parallel()
	pool := dbtest.DB(t)
	r := newRunner(t, dbtest.DatabaseURL(pool))
	var text strings.Builder
	for i, of := range strings.Fields("copper silver marble walnut velvet amber cotton granite leather bamboo") {
		for j, thing := range strings.Fields("lantern violin kettle compass ladder mirror barrel anchor saddle candle window basket") {
			fmt.Fprintf(&text, "## %s %s\n\n%s\n\n", of, thing, strings.Repeat(fmt.Sprintf("The %s %s of room %d stands by the %s door. ", of, thing, i*12+j, of), 6))
		}
	}
	r.ok("index", "--rebuild", write(t, "museum.md", text.String()))
	set := func() (apps []string) {
		rows, err := pool.Query(t.Context(), "SELECT app_name FROM hippocampus.settings WHERE key = 'anchors/offline/hash-v1' ORDER BY app_name")
		require.NoError(t, err)
		apps, err = pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		return apps
	}
	require.Contains(t, r.fails(command.ExitUsage, "anchors", "calibrate", "--deployment"), "--write")
	stdout, _ := r.ok("anchors", "calibrate")
	require.Contains(t, stdout, "PROPOSED")
	require.Empty(t, set())
	var c calibration
	r.json(&c, "anchors", "calibrate", "--write")
	require.Equal(t, "hippo", c.SetFor)
	require.Positive(t, c.Theta)
	require.Positive(t, c.SemanticTheta)
	require.Equal(t, []string{"hippo"}, set())
	stdout, _ = r.ok("anchors", "calibrate", "--write", "--deployment")
	require.Contains(t, stdout, "SET FOR APP *")
	require.ElementsMatch(t, []string{"*", "hippo"}, set())
}

// A file whose name is no text is left out, and named; the others are stored.
func TestIndexNames(t *testing.T) {
	t.Parallel()
	r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
	dir := filepath.Dir(write(t, "tea.md", "# Tea", "", "Green tea is steeped at eighty degrees."))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "caf\xe9.md"), []byte("Coffee."), 0o600))
	table, told := r.ok("index", dir, "--as", "drinks", "--no-worker")
	require.Regexp(t, ` 1 +0 +0 +1 +1 `, table)
	require.Regexp(t, `hippo: left out: .*xe9\.md`, told)
}

// An index that fails says why, and prints no table of zeros.
func TestIndexNothing(t *testing.T) {
	t.Parallel()
	r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
	code, stdout, stderr := r.run(t.Context(), "index", filepath.Join(t.TempDir(), "none"))
	require.Equal(t, command.ExitFailed, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "no such file")
}

// A command that waits for a worker says so.
func TestIndexMemoryWaits(t *testing.T) {
	t.Parallel()
	r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
	require.Regexp(t, `^hippo: waiting for a worker .*bin/worker`, r.untilItSpeaks("learn", "index_memory"))
}

// untilItSpeaks interrupts a command at its first word on standard error.
func (r *runner) untilItSpeaks(args ...string) string {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	var said strings.Builder
	a := newApp(strings.NewReader(""), io.Discard, writer(func(text []byte) (int, error) {
		defer cancel()
		return said.Write(text)
	}), func(name string) string { return r.env[name] })
	require.Equal(r.t, command.ExitInterrupted, a.run(ctx, args))
	return said.String()
}

type writer func([]byte) (int, error)

func (w writer) Write(text []byte) (int, error) { return w(text) }

// A generation whose rows could not be embedded never serves, even with --switch.
func TestReembedUnreachable(t *testing.T) {
	t.Parallel()
	r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
	r.ok("remember", "green tea is steeped at eighty degrees")
	r.env["OPENAI_BASE_URL"], r.env["OPENAI_API_KEY"] = failingServer(t, http.StatusNotFound), "key"
	message := r.fails(command.ExitFailed, "reembed", "--provider", "openai", "--model", "other", "--dimension", "96", "--switch")
	require.Contains(t, message, "generation 2 (openai/other) has 0 vectors, 1 rows have none: ")
	require.Contains(t, message, "404")
	status, _ := r.ok("reembed", "status")
	require.Regexp(t, `2 +building`, status)
}

// embeddingServer answers as OpenAI does, with vectors of a dimension; a text of more than maxWords is refused.
func embeddingServer(t *testing.T, dimension, maxWords int) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Input []string `json:"input"`
		}
		if json.NewDecoder(r.Body).Decode(&request) != nil {
			http.Error(w, "no JSON", http.StatusBadRequest)
			return
		}
		var data []map[string]any
		for i, text := range request.Input {
			if len(strings.Fields(text)) > maxWords {
				http.Error(w, "input is too long", http.StatusBadRequest)
				return
			}
			data = append(data, map[string]any{"index": i, "embedding": slices.Repeat([]float32{1}, dimension)})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// failingServer answers everything with a status.
func failingServer(t *testing.T, status int) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	t.Cleanup(server.Close)
	return server.URL
}

// What a model takes of a text is said to hippo as to the worker.
func TestMaxEmbedTokens(t *testing.T) {
	t.Parallel()
	r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
	r.ok("remember", strings.Repeat("green tea ", 20))
	r.env["OPENAI_BASE_URL"], r.env["HIPPOCAMPUS_MAX_EMBED_TOKENS"] = embeddingServer(t, 96, 8), "8"
	stdout, _ := r.ok("reembed", "--provider", "openai", "--model", "small", "--dimension", "96", "--switch")
	require.Contains(t, stdout, "serves")
	r.env["HIPPOCAMPUS_EMBEDDING_PROVIDER"], r.env["HIPPOCAMPUS_EMBED_MODEL"] = "openai", "small"
	var found struct {
		Degraded bool `json:"degraded"`
	}
	r.json(&found, "search", strings.Repeat("what tea ", 20))
	require.False(t, found.Degraded, "the question was embedded")
}

// A model of another dimension is no row's fault: the first answer ends it, however many rows there are.
func TestReembedAnotherDimension(t *testing.T) {
	t.Parallel()
	r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
	for _, tea := range []string{"green", "black", "white", "red"} {
		r.ok("remember", tea+" tea")
	}
	r.env["OPENAI_BASE_URL"] = embeddingServer(t, 3, 8)
	message := r.fails(command.ExitFailed, "reembed", "--provider", "openai", "--model", "small", "--dimension", "96")
	require.Contains(t, message, "4 rows have none: ")
	require.Contains(t, message, "vector 0 has 3 values, want 96: the dimension that is set is not the model's own")
}

// Whose embedder refuses has the documents, and is told why they have no vectors, once all is done that can be.
func TestIndexRefused(t *testing.T) {
	t.Parallel()
	r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
	r.env["OPENAI_BASE_URL"], r.env["HIPPOCAMPUS_EMBEDDING_PROVIDER"] = failingServer(t, http.StatusUnauthorized), "openai"
	code, stdout, stderr := r.run(t.Context(), "index", write(t, "tea.md", "# Tea", "It is green."))
	require.Equal(t, command.ExitFailed, code)
	require.Contains(t, stdout, "tea.md")
	require.Contains(t, stderr, "hippo: rows are left without a vector: openai embed: rejected (HTTP 401): Unauthorized; check OPENAI_API_KEY")
}

// Who looks on without a terminal is told why there is no progress.
func TestReembedUnavailable(t *testing.T) {
	t.Parallel()
	r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
	r.ok("remember", "green tea")
	r.env["OPENAI_BASE_URL"] = failingServer(t, http.StatusBadGateway)
	said := r.untilItSpeaks("reembed", "--provider", "openai", "--model", "other", "--dimension", "96")
	require.Contains(t, said, "the embedder fails; will try again")
	require.Contains(t, said, "openai embed: unavailable (HTTP 502)")
}

// A model that is named, but that its provider would not use, fills no generation by another.
func TestReembedNamesItsProvider(t *testing.T) {
	t.Parallel()
	r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
	message := r.fails(command.ExitUsage, "reembed", "--model", "nomic-embed-text")
	require.Contains(t, message, `--model is "nomic-embed-text", but the vectors would be of offline/hash-v1`)
	status, _ := r.ok("reembed", "status")
	require.NotContains(t, status, "building")
}
