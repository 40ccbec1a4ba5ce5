package worker_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// patience bounds every wait; no test waits for it to pass.
const patience = 90 * time.Second

// binary builds cmd/worker, once.
var binary = sync.OnceValues(func() (string, error) {
	root, err := dbtest.Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(os.TempDir(), fmt.Sprintf("hippocampus-worker-%d", os.Getpid()))
	cmd := exec.Command("go", "build", "-o", path, "./cmd/worker")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build cmd/worker: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := binary(); err == nil {
		_ = os.Remove(path)
	}
	os.Exit(code)
}

// process is a running worker.
type process struct {
	*exec.Cmd
	mu   sync.Mutex
	log  bytes.Buffer
	done chan struct{}
}

// Write takes the worker's log.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// start starts a worker on a database and a provider.
func start(t *testing.T, pool *pgxpool.Pool, s *server, args ...string) *process {
	t.Helper()
	return startOn(t, dbtest.DatabaseURL(dbtest.As(t, pool, "hippocampus_worker", nil)), s, args...)
}

// startOn starts a worker with a login's URL.
func startOn(t *testing.T, databaseURL string, s *server, args ...string) *process {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	args = append([]string{
		"--provider=openai", "--sweep-interval=50ms", "--consolidate-timeout=60s", "--embed-timeout=60s", "--log-level=debug",
	}, args...)
	p := &process{Cmd: exec.CommandContext(t.Context(), path, args...), done: make(chan struct{})}
	p.Env = []string{
		"DATABASE_URL=" + databaseURL,
		"OPENAI_API_KEY=secret-key", "OPENAI_BASE_URL=" + s.URL + "/v1",
	}
	p.Stderr = p
	require.NoError(t, p.Start())
	go func() {
		defer close(p.done)
		_ = p.Wait()
	}()
	t.Cleanup(func() {
		p.kill(t)
		requireNoContent(t, p.text())
		require.NotContains(t, p.text(), "secret-key")
		if t.Failed() {
			t.Log(p.text())
		}
	})
	return p
}

// kill kills the process as kill -9 does, and waits until it is gone.
func (p *process) kill(t *testing.T) {
	t.Helper()
	_ = p.Process.Signal(syscall.SIGKILL)
	receive(t, "the process's end", p.done)
}

func receive[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		require.FailNow(t, "waited in vain for "+what)
	}
	panic("not reached")
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); {
		if time.Now().After(deadline) {
			require.FailNow(t, "waited in vain for "+what)
		}
		select {
		case <-t.Context().Done():
			require.FailNow(t, "the test ended while it waited for "+what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func count(t *testing.T, pool *pgxpool.Pool, query string, args ...any) int {
	t.Helper()
	var n int
	require.NoError(t, pool.QueryRow(t.Context(), query, args...).Scan(&n))
	return n
}

// conversation makes a thread of so many events, and asks for its consolidation.
func conversation(t *testing.T, pool *pgxpool.Pool, events int) (thread, job uuid.UUID) {
	t.Helper()
	return conversationOf(t, pool, "ada", events)
}

// conversationOf is conversation of any user.
func conversationOf(t *testing.T, pool *pgxpool.Pool, user string, events int) (thread, job uuid.UUID) {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT hippocampus.create_thread($1, 'app')`, user).Scan(&thread))
	for i := range events {
		_, err = tx.Exec(t.Context(), `SELECT hippocampus.append_event($1, 'user', 'message', jsonb_build_object('text', $2::text))`,
			thread, fmt.Sprintf("I like sushi, %d times.", i))
		require.NoError(t, err)
	}
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT hippocampus.enqueue_consolidation($1)`, thread).Scan(&job))
	require.NoError(t, tx.Commit(t.Context()))
	return thread, job
}

func jobStatus(t *testing.T, pool *pgxpool.Pool, job uuid.UUID) string {
	t.Helper()
	var status string
	err := pool.QueryRow(t.Context(), `SELECT status FROM hippocampus.consolidation_jobs WHERE id = $1`, job).Scan(&status)
	require.NoError(t, err)
	return status
}

func waitStatus(t *testing.T, pool *pgxpool.Pool, job uuid.UUID, want string) {
	t.Helper()
	eventually(t, "the job to be "+want, func() bool { return jobStatus(t, pool, job) == want })
}

// passTime makes it an hour later, for jobs that run, rows that are claimed, and the lease of River's
// leader.
func passTime(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	for _, query := range []string{
		`UPDATE hippocampus.river_job SET attempted_at = attempted_at - interval '1 hour' WHERE state = 'running'`,
		`UPDATE hippocampus.river_leader SET elected_at = elected_at - interval '1 hour', expires_at = expires_at - interval '1 hour'`,
		`UPDATE hippocampus.embedding_queue SET run_after = run_after - interval '1 hour'`,
	} {
		_, err := pool.Exec(t.Context(), query)
		require.NoError(t, err)
	}
}

// requireOnce makes sure that a conversation is in memory once, whole.
func requireOnce(t *testing.T, pool *pgxpool.Pool, thread uuid.UUID, events int) {
	t.Helper()
	for what, c := range map[string]struct {
		want  int
		query string
	}{
		"watermark": {events, `SELECT least(replayed_seq, reflected_seq) FROM hippocampus.threads WHERE id = $1`},
		"episodes":  {events, `SELECT count(*) FROM hippocampus.memories WHERE thread_id = $1 AND memory_type = 'episodic'`},
		"summaries": {1, `SELECT count(*) FROM hippocampus.memories WHERE thread_id = $1 AND memory_type = 'summary'`},
		"insights":  {1, `SELECT count(*) FROM hippocampus.memories WHERE thread_id = $1 AND memory_type = 'semantic'`},
		"facts":     {1, `SELECT count(*) FROM hippocampus.facts WHERE thread_id = $1`},
		"sources":   {events + 3, `SELECT count(*) FROM hippocampus.memory_sources WHERE thread_id = $1`},
		"doubled": {0, `SELECT (SELECT count(*) FROM hippocampus.memories m WHERE m.encounter_count > 1 AND m.thread_id = $1)
			+ (SELECT count(*) FROM hippocampus.facts f WHERE f.encounter_count > 1 AND f.thread_id = $1)`},
	} {
		require.Equal(t, c.want, count(t, pool, c.query, thread), what)
	}
}

// waitEmbedded waits until every memory and fact has its vector, and makes sure that there is no
// other.
func waitEmbedded(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	rows := count(t, pool, `SELECT (SELECT count(*) FROM hippocampus.memories) + (SELECT count(*) FROM hippocampus.facts)`)
	eventually(t, "the vectors", func() bool { return count(t, pool, `SELECT count(*) FROM hippocampus.embeddings`) == rows })
	eventually(t, "an empty queue", func() bool { return count(t, pool, `SELECT count(*) FROM hippocampus.embedding_queue`) == 0 })
}

// waitBlocked waits until the worker's session waits for a lock.
func waitBlocked(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	eventually(t, "the worker to wait for a lock", func() bool {
		return count(t, pool, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
			AND application_name LIKE 'hippocampus worker%' AND wait_event_type = 'Lock'`) > 0
	})
}

// waitGone waits until the sessions of a killed worker are gone.
func waitGone(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	eventually(t, "the worker's sessions to end", func() bool {
		return count(t, pool, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
			AND application_name LIKE 'hippocampus worker%'`) == 0
	})
}
