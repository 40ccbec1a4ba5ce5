package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// buffer is what a command writes; it may be read meanwhile.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// noEnv is an empty environment.
func noEnv(string) string { return "" }

func workerURL(t *testing.T, pool *pgxpool.Pool) string {
	t.Helper()
	return dbtest.DatabaseURL(dbtest.As(t, pool, "hippocampus_worker", nil))
}

func TestRun(t *testing.T) {
	t.Parallel()

	t.Run("Help", func(t *testing.T) {
		t.Parallel()
		var stdout, stderr buffer
		require.Equal(t, command.ExitOK, run(t.Context(), []string{"--help"}, &stdout, &stderr, noEnv))
		require.Contains(t, stdout.String(), "--http")
		require.Empty(t, stderr.String())
	})

	t.Run("Once", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.DB(t)
		var thread string
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT hippocampus.create_thread('ada', 'app')`).Scan(&thread))
		_, err := pool.Exec(t.Context(), `SELECT hippocampus.append_event($1, 'user', 'message', '{"text": "I live in Berlin."}')`, thread)
		require.NoError(t, err)
		_, err = pool.Exec(t.Context(), `SELECT hippocampus.enqueue_consolidation($1)`, thread)
		require.NoError(t, err)
		env := map[string]string{"DATABASE_URL": workerURL(t, pool), "HIPPOCAMPUS_WORKER_ONCE": "true"}
		var stdout, stderr buffer
		require.Equal(t, command.ExitOK, run(t.Context(), nil, &stdout, &stderr, func(name string) string { return env[name] }), stderr.String())
		var memories, queued int
		err = pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM hippocampus.memories),
			(SELECT count(*) FROM hippocampus.embedding_queue)`).Scan(&memories, &queued)
		require.NoError(t, err)
		require.GreaterOrEqual(t, memories, 2)
		require.Zero(t, queued)
		require.NotContains(t, stderr.String(), "Berlin")
		require.Regexp(t, `a conversation was consolidated" thread=`+thread+` job=\d+ type=full_consolidation events=1 summaries=1 .*ms=\d+`, stderr.String())
		require.Contains(t, stderr.String(), " chat=offline ")
		require.Regexp(t, `^1 consolidation done, \d+ rows? embedded, tokens of \d+ rows? counted\n$`, stdout.String())
	})

	// What failed is told by the last line, and by the exit code.
	t.Run("OnceThatFails", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.DB(t)
		server := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(server.Close)
		_, err := pool.Exec(t.Context(), `SELECT hippocampus.append_event(t.id, 'user', 'message', '{"text": "I live in Berlin."}'),
			hippocampus.enqueue_consolidation(t.id) FROM hippocampus.create_thread('ada', 'app') AS t (id)`)
		require.NoError(t, err)
		_, err = pool.Exec(t.Context(), `UPDATE hippocampus.river_job SET max_attempts = 1 WHERE kind = 'consolidate'`)
		require.NoError(t, err)
		env := map[string]string{
			"DATABASE_URL": workerURL(t, pool), "HIPPOCAMPUS_EMBEDDING_PROVIDER": "offline", "HIPPOCAMPUS_MODEL_PROVIDER": "openai",
			"OPENAI_BASE_URL": server.URL,
		}
		var stdout, stderr buffer
		require.Equal(t, command.ExitFailed, run(t.Context(), []string{"--once"}, &stdout, &stderr, func(name string) string { return env[name] }), stderr.String())
		require.Contains(t, stderr.String(), "worker: 1 consolidation failed: hippocampus.consolidation_jobs says why")
		require.Regexp(t, `^0 consolidations done, 1 failed, \d+ rows? embedded, tokens of \d+ rows? counted\n$`, stdout.String())
		// The next run has nothing to do with it.
		require.Equal(t, command.ExitOK, run(t.Context(), []string{"--once"}, &stdout, &stderr, func(name string) string { return env[name] }), stderr.String())
	})

	t.Run("ServesUntilStopped", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.DB(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var stderr buffer
		done := make(chan int, 1)
		go func() {
			done <- run(ctx, []string{"--database-url", workerURL(t, pool), "--http", "127.0.0.1:0"}, io.Discard, &stderr, noEnv)
		}()
		started := regexp.MustCompile(`the worker has started.* http=(\S+)`)
		require.Eventually(t, func() bool { return started.MatchString(stderr.String()) || len(done) > 0 }, time.Minute, time.Millisecond)
		require.Empty(t, done, stderr.String())
		address := started.FindStringSubmatch(stderr.String())[1]
		for path, want := range map[string]string{"/healthz": "ok", "/readyz": "ok", "/metrics": "hippocampus_consolidation_jobs"} {
			response, err := http.Get("http://" + address + path)
			require.NoError(t, err)
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, http.StatusOK, response.StatusCode, path)
			require.Contains(t, string(body), want)
		}
		cancel()
		require.Equal(t, command.ExitOK, <-done, stderr.String())
	})

	t.Run("SaysWhatIsWrong", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.DB(t)
		good := workerURL(t, pool)
		for name, c := range map[string]struct {
			args []string
			code int
			want string
		}{
			"Argument":         {[]string{"drain"}, command.ExitUsage, `worker takes no arguments, but got "drain"`},
			"DatabaseURL":      {[]string{"--database-url", "http://x"}, command.ExitUsage, "the database URL can't be read"},
			"Dimension":        {[]string{"--database-url", good, "--dimension", "128"}, command.ExitInvalid, "the database has vectors of 64 dimensions"},
			"DimensionRange":   {[]string{"--database-url", good, "--dimension", "4001"}, command.ExitUsage, "--dimension is 4001, but must be between 1 and 4000"},
			"Fields":           {[]string{"--database-url", good, "--fetch-cooldown", "1h"}, command.ExitUsage, "--fetch-cooldown 1h0m0s must not exceed --poll-interval 500ms"},
			"Duration":         {[]string{"--stop-timeout", "soon"}, command.ExitUsage, `invalid argument "soon"`},
			"MaxConnections":   {[]string{"--database-url", good, "--max-connections", "-1"}, command.ExitUsage, "--max-connections is -1, but must be 0 or more"},
			"Flag":             {[]string{"--nope"}, command.ExitUsage, "unknown flag: --nope"},
			"HTTPAddress":      {[]string{"--http", "8081"}, command.ExitUsage, `--http: "8081" is no address such as :8081`},
			"HTTPPort":         {[]string{"--http", ":99999"}, command.ExitUsage, `--http: ":99999" is no address such as :8081`},
			"Key":              {[]string{"--database-url", good, "--provider", "openai"}, command.ExitUsage, "no API key: set OPENAI_API_KEY"},
			"Level":            {[]string{"--log-level", "loud"}, command.ExitUsage, `"loud" is none of debug, info, warn, error`},
			"Login":            {[]string{"--database-url", dbtest.DatabaseURL(dbtest.As(t, pool, "hippocampus_reader", nil))}, command.ExitFailed, "GRANT hippocampus_worker TO"},
			"NoServer":         {[]string{"--database-url", "postgres://127.0.0.1:1/x"}, command.ExitConnect, "no Postgres at 127.0.0.1:1"},
			"Password":         {[]string{"--database-url", strings.Replace(good, "hippocampus_test_worker:", "hippocampus_test_worker:x", 1)}, command.ExitConnect, "refuses the password"},
			"Provider":         {[]string{"--database-url", good, "--provider", "oracle"}, command.ExitUsage, `unknown model provider "oracle"`},
			"ReadOnly":         {[]string{"--database-url", good + "&default_transaction_read_only=on"}, command.ExitFailed, "the database is read-only: a worker writes"},
			"Rescue":           {[]string{"--database-url", good, "--rescue-after", "1m"}, command.ExitUsage, "--rescue-after 1m0s must exceed"},
			"Schedule":         {[]string{"--retention-schedule", "0 0 30 2 *"}, command.ExitUsage, "it never comes"},
			"ScheduleWithZone": {[]string{"--retention-schedule", "TZ=UTC 0 0 * * *"}, command.ExitUsage, "give the time zone by itself"},
			"Zone":             {[]string{"--time-zone", "Mars/Olympus"}, command.ExitUsage, "unknown time zone"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var stderr buffer
				require.Equal(t, c.code, run(t.Context(), c.args, io.Discard, &stderr, noEnv), stderr.String())
				require.Contains(t, stderr.String(), c.want)
				first, rest, _ := strings.Cut(stderr.String(), "\n")
				require.True(t, strings.HasPrefix(first, "worker: "), first)
				require.Contains(t, []string{"", "See \"worker --help\".\n"}, rest)
			})
		}
	})
}
