package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/assembler"
	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// runner runs commands on a database.
type runner struct {
	env   map[string]string
	stdin string
	t     *testing.T
}

func newRunner(t *testing.T, databaseURL string) *runner {
	t.Helper()
	return &runner{env: map[string]string{"DATABASE_URL": databaseURL}, t: t}
}

func (r *runner) run(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	a := newApp(strings.NewReader(r.stdin), &out, &errs, func(name string) string { return r.env[name] })
	code = a.run(ctx, args)
	return code, out.String(), errs.String()
}

// ok runs a command that succeeds, and gives what it prints.
func (r *runner) ok(args ...string) (stdout, stderr string) {
	r.t.Helper()
	code, stdout, stderr := r.run(r.t.Context(), args...)
	require.Equal(r.t, command.ExitOK, code, stderr)
	return stdout, stderr
}

// json runs a command that prints JSON.
func (r *runner) json(into any, args ...string) {
	r.t.Helper()
	stdout, _ := r.ok(append(args, "--json")...)
	require.NoError(r.t, json.Unmarshal([]byte(stdout), into), stdout)
}

// fails runs a command that fails with a code, and says why.
func (r *runner) fails(code int, args ...string) string {
	r.t.Helper()
	got, _, stderr := r.run(r.t.Context(), args...)
	require.Equal(r.t, code, got, stderr)
	return stderr
}

func write(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	return path
}

func TestDemo(t *testing.T) {
	t.Parallel()
	r := newRunner(t, dbtest.Empty(t, ""))
	first, _ := r.ok("demo")
	require.Contains(t, first, "(0 were there already)")
	models := regexp.MustCompile(`Models: summaries by offline/\S+, facts by offline/\S+, vectors by offline/hash-v1\.`)
	require.Len(t, models.FindAllString(first, -1), 2)
	for _, want := range []string{"Berlin", "杭州", "Facts, current", "Context window of 700 tokens", "S system", "RESERVED", "reserved) of 700"} {
		require.Contains(t, first, want)
	}
	second, _ := r.ok("demo")
	require.Contains(t, second, "Logged 0 events (")
	require.Contains(t, second, "; 0 sessions consolidated after")
	require.Equal(t, models.FindAllString(first, -1), models.FindAllString(second, -1))

	var reports []map[string]any
	r.json(&reports, "demo")
	require.Len(t, reports, 2)
	for _, report := range reports {
		require.Equal(t, []string{"facts", "memories", "summaries", "user", "window"}, slices.Sorted(maps.Keys(report)))
		for _, list := range []string{"facts", "memories", "summaries"} {
			require.NotEmpty(t, report[list], list)
		}
		require.NotEmpty(t, report["window"].(map[string]any)["text"])
	}

	t.Run("Context", func(t *testing.T) {
		t.Parallel()
		r := *r
		r.t = t
		stdout, stderr := r.ok("context", "--app", "demo", "--user", "maya", "--max-tokens", "300", "--system", "Be brief.", "--ledger", "dinner?")
		require.Contains(t, stdout, "Be brief.")
		require.NotContains(t, stdout, "RESERVED")
		require.Contains(t, stderr, "of 300\nS system")
		var window assembler.Window
		r.json(&window, "context", "--app", "demo", "--user", "maya", "--max-tokens", "300", "dinner?")
		require.LessOrEqual(t, window.Tokens, window.TokenEstimate)
		require.LessOrEqual(t, window.TokenEstimate, 300)
		require.Len(t, window.Sections, 6)

		long := []string{"context", "--max-tokens", "100", "--system", strings.Repeat("Be brief. ", 20), "dinner?"}
		said := r.fails(command.ExitFailed, long...)
		require.Contains(t, said, "raise --max-tokens or --system-ratio, or let it take from the other sections with --system-overflow")
		require.NotContains(t, said, "p_")
		r.ok(append(long, "--system-overflow")...)
		r.ok(append(long, "--system-ratio", "1")...)
	})

	t.Run("Doctor", func(t *testing.T) {
		t.Parallel()
		r := *r
		r.t = t
		var findings []map[string]string
		r.json(&findings, "doctor")
		require.NotEmpty(t, findings)
		for _, f := range findings {
			delete(f, "hint") // where there is one
			require.Equal(t, []string{"detail", "name", "status"}, slices.Sorted(maps.Keys(f)))
		}
	})

	t.Run("DoctorFails", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.DB(t)
		r := newRunner(t, dbtest.DatabaseURL(pool))
		r.ok("doctor")
		_, err := pool.Exec(t.Context(), "ALTER TABLE hippocampus.memories NO FORCE ROW LEVEL SECURITY")
		require.NoError(t, err)
		code, stdout, stderr := r.run(t.Context(), "doctor")
		require.Equal(t, command.ExitFailed, code)
		require.Regexp(t, `error +forced policies +not forced: memories`, stdout)
		require.Equal(t, "hippo: something is wrong with forced policies: see what was found\n", stderr)
		r.fails(command.ExitFailed, "doctor", "--json")
	})

	t.Run("Facts", func(t *testing.T) {
		t.Parallel()
		r := *r
		r.t = t
		stdout, _ := r.ok("facts", "--app", "demo", "--user", "maya", "--type", "profile")
		require.Contains(t, stdout, " Lisbon ")
		require.NotContains(t, stdout, `"`)
	})

	t.Run("Search", func(t *testing.T) {
		t.Parallel()
		r := *r
		r.t = t
		stdout, _ := r.ok("search", "--app", "demo", "--user", "maya", "--limit", "2", "where does Maya live?")
		require.Regexp(t, `^SCORE +WORDS +MEANING +RETENTION +TYPE +DATE +MEMORY\n`, stdout)
		require.Equal(t, 3, strings.Count(stdout, "\n"))
		var found struct {
			Memories []map[string]any `json:"memories"`
		}
		r.json(&found, "search", "--app", "demo", "--user", "maya", "--type", "summary", "--since", "2026-05-01", "dinner")
		require.NotEmpty(t, found.Memories)
		for _, key := range []string{"content", "score", "text_score", "vector_score", "retention_score", "occurred_from"} {
			require.Contains(t, found.Memories[0], key)
		}
		for _, args := range [][]string{{"--until", "2020-01-01"}, {"--since", "2100-01-01T00:00:00Z"}, {"--min-relevance", "1"}} {
			stdout, _ = r.ok(append([]string{"search", "--app", "demo", "--user", "maya", "quarks"}, args...)...)
			require.Equal(t, "The user maya of the app demo has no memory that answers this. "+otherScope+"\n", stdout)
		}
	})

	t.Run("SQLAPI", func(t *testing.T) {
		t.Parallel()
		r := *r
		r.t = t
		stdout, _ := r.ok("sql-api")
		require.Contains(t, stdout, "## search_memory")
	})

	t.Run("Stats", func(t *testing.T) {
		t.Parallel()
		r := *r
		r.t = t
		stdout, _ := r.ok("stats", "--app", "demo", "--user", "林晓")
		require.Contains(t, stdout, "The memory of 林晓 in demo\n")
		require.Contains(t, stdout, "facts, current")
		stdout, _ = r.ok("stats")
		require.Equal(t, "The memory of me in hippo\n\nIt is empty: import a conversation, or name another with --user and --app.\n", stdout)
		var stats map[string]any
		r.json(&stats, "stats", "--app", "demo", "--user", "maya")
		require.Equal(t, "maya", stats["user"])
		require.Equal(t, "demo", stats["app"])
		require.Positive(t, stats["facts_current"])
	})
}

func TestImport(t *testing.T) {
	t.Parallel()
	r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
	const (
		hello = `{"session_id":"s","author":"user","text":"I live in Porto.","created_at":"2026-05-01T09:00:00Z"}`
		bye   = `{"session_id":"s","role":"assistant","content":"Good to know.","created_at":"2026-05-01T09:00:01Z"}`
		more  = `{"session_id":"s","author":"user","text":"I have a cat.","created_at":"2026-05-01T09:00:00Z"}`
	)
	table := func(args ...string) [][]string {
		stdout, _ := r.ok(append([]string{"import"}, args...)...)
		var rows [][]string
		for line := range strings.Lines(stdout) {
			rows = append(rows, strings.Fields(line))
		}
		require.Equal(t, []string{"USER", "SESSIONS", "EVENTS", "KNOWN", "CONSOLIDATED"}, rows[0])
		return rows[1:]
	}
	talk := write(t, "talk.jsonl", hello, bye)
	require.Equal(t, [][]string{{"me", "1", "2", "0", "1"}}, table(talk))
	require.Equal(t, [][]string{{"me", "1", "0", "2", "0"}}, table(talk))
	require.Equal(t, [][]string{{"me", "1", "1", "2", "1"}}, table(write(t, "talk.jsonl", more, hello, bye)), "a line was inserted")
	require.Equal(t, [][]string{{"me", "1", "1", "0", "1"}}, table(write(t, "talk.jsonl", strings.ReplaceAll(hello, "Porto", "Lisbon"))),
		"another file of the same name")
	r.stdin = "\uFEFF" + hello + "\r\n" + bye + "\r\n"
	require.Equal(t, [][]string{{"me", "1", "0", "2", "0"}}, table("-"))

	other := write(t, "other.jsonl", strings.ReplaceAll(hello, `"s"`, `"t"`))
	require.Equal(t, [][]string{{"talk", "1", "2", "0", "0"}, {"other", "1", "1", "0", "0"}}, table("--no-worker", talk, other))
	require.Equal(t, [][]string{{"paul", "1", "2", "0", "1"}, {"paul", "1", "1", "0", "1"}}, table("--user", "paul", talk, other))

	var reports []map[string]any
	r.json(&reports, "import", "--user", "paul", talk)
	require.Equal(t, []string{"app", "consolidated", "events", "events_known", "jobs", "sessions", "user"}, slices.Sorted(maps.Keys(reports[0])))

	t.Run("Faults", func(t *testing.T) {
		t.Parallel()
		r := newRunner(t, "postgres://nobody@127.0.0.1:1/none")
		for _, test := range []struct{ file, want string }{
			{"", "the file is empty"},
			{`{"author":"user"}`, "line 1: an event needs text or content"},
			{`{"speaker":"user","text":"x"}`, `line 1: there is no field "speaker"; call it author`},
			{hello + "\n" + `{"author":`, "line 2: the JSON ends too early"},
			{`{"author":"a","text":"x","event_id":"1"}` + "\n" + `{"author":"a","text":"y","event_id":"1"}`, `different events of the event_id "1"`},
		} {
			require.Contains(t, r.fails(command.ExitFailed, "import", write(t, "x.jsonl", test.file)), test.want)
		}
		require.Contains(t, r.fails(command.ExitFailed, "import", filepath.Join(t.TempDir(), "none")), "no such file")
		r.fails(command.ExitConnect, "import", write(t, "x.jsonl", hello))
	})
}

func TestRun(t *testing.T) {
	t.Parallel()

	t.Run("Interrupted", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		code, stdout, stderr := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t))).run(ctx, "demo")
		require.Equal(t, command.ExitInterrupted, code)
		require.Empty(t, stdout)
		require.Equal(t, "hippo: interrupted; start it again to go on\n", stderr)
	})

	t.Run("Models", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.DB(t)
		r := newRunner(t, dbtest.DatabaseURL(pool))
		r.env["HIPPOCAMPUS_MODEL_PROVIDER"] = "acme"
		require.Contains(t, r.fails(command.ExitUsage, "stats"), `unknown model provider "acme"`)
		r.env["HIPPOCAMPUS_MODEL_PROVIDER"] = "openai"
		require.Contains(t, r.fails(command.ExitUsage, "stats"), "openai")
		r.env["HIPPOCAMPUS_MODEL_PROVIDER"] = ""
		r.env["HIPPOCAMPUS_DIMENSION"] = "many"
		require.Contains(t, r.fails(command.ExitUsage, "stats"), "HIPPOCAMPUS_DIMENSION")
		r.env["HIPPOCAMPUS_DIMENSION"] = "128"
		require.Contains(t, r.fails(command.ExitInvalid, "stats"), "Unset HIPPOCAMPUS_DIMENSION")
		r.env["HIPPOCAMPUS_DIMENSION"] = ""
		_, err := pool.Exec(t.Context(), "UPDATE hippocampus.embedding_models SET model = 'acme/vectors' WHERE status = 'serving'")
		require.NoError(t, err)
		said := r.fails(command.ExitInvalid, "stats")
		require.Contains(t, said, "acme/vectors")
		require.Contains(t, said, "set HIPPOCAMPUS_EMBEDDING_PROVIDER")
	})

	t.Run("Newer", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.DB(t)
		_, err := pool.Exec(t.Context(), `INSERT INTO hippocampus.goose_db_version (version_id, is_applied) VALUES (99999, true)`)
		require.NoError(t, err)
		_, err = pool.Exec(t.Context(), `INSERT INTO hippocampus.settings (app_name, key, value) VALUES ('*', 'breaking_version', '99999')
			ON CONFLICT (app_name, key) DO UPDATE SET value = excluded.value`)
		require.NoError(t, err)
		require.Contains(t, newRunner(t, dbtest.DatabaseURL(pool)).fails(command.ExitNewer, "stats"), "use a newer binary")
	})

	t.Run("NoConnection", func(t *testing.T) {
		t.Parallel()
		for _, name := range []string{"demo", "doctor", "sql-api", "stats"} {
			require.Contains(t, newRunner(t, "postgres://nobody@127.0.0.1:1/none").fails(command.ExitConnect, name), "no connection")
		}
	})

	t.Run("NotMigrated", func(t *testing.T) {
		t.Parallel()
		r := newRunner(t, dbtest.Empty(t, ""))
		for _, args := range [][]string{{"context", "x"}, {"doctor"}, {"search", "x"}, {"sql-api"}, {"stats"}} {
			require.Contains(t, r.fails(command.ExitInvalid, args...), "run migrate up", args)
		}
	})

	t.Run("Timeout", func(t *testing.T) {
		t.Parallel()
		r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
		said := r.fails(command.ExitFailed, "import", "--timeout", "1ns", write(t, "x.jsonl", `{"author":"user","text":"x"}`))
		require.Contains(t, said, "it took longer than --timeout (1ns); start it again to go on")
	})

	t.Run("WrongArguments", func(t *testing.T) {
		t.Parallel()
		r := newRunner(t, "postgres://nobody@127.0.0.1:1/none")
		for _, args := range [][]string{
			{},
			{"remember"},
			{"promote"},
			{"promote", "3f2b8f2e-0000-4000-8000-000000000000", "x"},
			{"rollback", "key", "x"},
			{"learn", "save_memory", "{}", "x"},
			{"bench", "corf", "a", "b"},
			{"context"},
			{"context", "--fact-ratio", "0.9", "x"},
			{"context", "--language", "de", "x"},
			{"context", "--max-tokens", "-1", "x"},
			{"context", "--memory-ratio", "2", "x"},
			{"context", "--thread", "monday", "x"},
			{"demo", "--app", "x"},
			{"demo", "--user", "x"},
			{"demo", "x"},
			{"import"},
			{"import", "--timeout", "0s", "x.jsonl"},
			{"search"},
			{"search", "--limit", "0", "x"},
			{"search", "--limit", "many", "x"},
			{"search", "--min-relevance", "NaN", "x"},
			{"search", "--profile", "best", "x"},
			{"search", "--since", "2026-05-02", "--until", "2026-05-01", "x"},
			{"search", "--since", "May", "x"},
			{"search", "--type", "episodic,dream", "x"},
			{"search", "--type", "", "x"},
			{"search", "--tag", "", "x"},
			{"context", "--documents", "--project", "", "x"},
			{"anchors", "lookup", "--project", "", "x"},
			{"remember", "--tag", "a", "--tag", "", "x"},
			{"remember", "--category", "gossip", "x"},
			{"stats", "--database-url", "postgres://a:b@c:d/e"},
			{"demo", "--database-url", "postgres://a:b@c:d/e"},
			{"stats", "--colour"},
		} {
			require.Contains(t, r.fails(command.ExitUsage, args...), `See "hippo`, args)
		}
		r = newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
		require.Contains(t, r.fails(command.ExitUsage, "stats", "--user", ""), "invalid scope")
	})
}

func TestPrintLedger(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, printLedger(&out, &assembler.Window{
		MaxTokens: 8000, Omitted: []assembler.Item{{Content: "我住在\n杭州", ContextType: "memory", OmittedReason: "budget", TokenEstimate: 1200}},
		Sections: []assembler.Section{
			{Budget: 800, Items: 1, Name: "system", Used: 100},
			{Name: "block"},
			{Budget: 3200, Items: 20, Name: "memory", Omitted: 1, Used: 3000},
		}, TokenEstimate: 3100, Tokens: 2900,
	}, true))
	require.Equal(t, `[SMMMMMMMMMMMMMMMMMMMMMM·····································] 2,900 tokens (3,100 reserved) of 8,000
S system  M memory  · free

SECTION  SHARE  RESERVED  ENTRIES  LEFT OUT
system   800    100       1        0
memory   3,200  3,000     20       1
all      4,000  3,100     21       1

SECTION  TOKENS  WHY     LEFT OUT
memory   1,200   budget  我住在 杭州
`, out.String())
}

func TestReadTime(t *testing.T) {
	t.Parallel()
	since, err := readTime("since", "2026-05-01", 0)
	require.NoError(t, err)
	require.Equal(t, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), *since)
	until, err := (&searchFlags{limit: 1, profile: "default", until: "2026-05-01"}).options()
	require.NoError(t, err)
	require.Equal(t, time.Date(2026, 5, 1, 23, 59, 59, 999999000, time.UTC), *until.Until)
}

func TestTable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	table := newTable(&out, "KEY", "VALUE", "N", "SCORE")
	table.row("城市", "杭州", 1234567, 0.5)
	table.row("name", "Lin 林晓", -1234, 1.0)
	table.row("猫🐈", "café", int64(999), 0.12345)
	require.NoError(t, table.print())
	require.Equal(t, `KEY   VALUE     N          SCORE
城市  杭州      1,234,567  0.500
name  Lin 林晓  -1,234     1.000
猫🐈  café      999        0.123
`, out.String())
}
