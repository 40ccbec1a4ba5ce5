package worker_test

import (
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

const events = 4

// TestKill kills a worker at each step of a consolidation. At that moment the record says that it
// runs and nothing of it is stored, or it says that it is completed and all is; and another worker
// does what is left.
func TestKill(t *testing.T) {
	t.Parallel()

	// begin starts a worker with a consolidation that is held at an operation.
	begin := func(t *testing.T, operation string) (*pgxpool.Pool, *server, *process, uuid.UUID, uuid.UUID) {
		t.Helper()
		pool := dbtest.DB(t, dbtest.Durable())
		s := newServer(t)
		s.hold(operation)
		p := start(t, pool, s)
		thread, job := conversation(t, pool, events)
		receive(t, operation, s.arrived)
		waitStatus(t, pool, job, "running")
		return pool, s, p, thread, job
	}
	// finish has another worker do the rest.
	finish := func(t *testing.T, pool *pgxpool.Pool, s *server, thread, job uuid.UUID) {
		t.Helper()
		require.Equal(t, "running", jobStatus(t, pool, job))
		require.Zero(t, count(t, pool, `SELECT (SELECT count(*) FROM hippocampus.memories) + (SELECT count(*) FROM hippocampus.facts)
			+ (SELECT count(*) FROM hippocampus.embeddings) + (SELECT max(least(replayed_seq, reflected_seq)) FROM hippocampus.threads)`))
		passTime(t, pool)
		start(t, pool, s)
		waitStatus(t, pool, job, "completed")
		requireOnce(t, pool, thread, events)
		waitEmbedded(t, pool)
		require.Equal(t, 2, count(t, pool, `SELECT attempts FROM hippocampus.consolidation_jobs`))
	}

	for _, operation := range []string{opSummarize, opReflect, opEmbed} {
		t.Run("While"+operation, func(t *testing.T) {
			t.Parallel()
			pool, s, p, thread, job := begin(t, operation)
			p.kill(t)
			s.release(operation)
			finish(t, pool, s, thread, job)
		})
	}

	t.Run("BeforeItStores", func(t *testing.T) {
		t.Parallel()
		pool, s, p, thread, job := begin(t, opSummarize)
		client, err := pool.Begin(t.Context())
		require.NoError(t, err)
		_, err = client.Exec(t.Context(), `SELECT FROM hippocampus.threads FOR UPDATE`)
		require.NoError(t, err)
		s.release(opSummarize)
		waitBlocked(t, pool)
		p.kill(t)
		require.NoError(t, client.Rollback(t.Context()))
		waitGone(t, pool)
		finish(t, pool, s, thread, job)
	})

	t.Run("WhileItStores", func(t *testing.T) {
		t.Parallel()
		pool, s, p, thread, job := begin(t, opSummarize)
		// Its record is the last that the transaction writes.
		client, err := pool.Begin(t.Context())
		require.NoError(t, err)
		_, err = client.Exec(t.Context(), `SELECT FROM hippocampus.consolidation_jobs FOR UPDATE`)
		require.NoError(t, err)
		s.release(opSummarize)
		waitBlocked(t, pool)
		p.kill(t)
		require.NoError(t, client.Rollback(t.Context()))
		waitGone(t, pool)
		finish(t, pool, s, thread, job)
	})

	t.Run("AfterTheCommit", func(t *testing.T) {
		t.Parallel()
		pool, s, p, thread, job := begin(t, opSummarize)
		s.release(opSummarize)
		waitStatus(t, pool, job, "completed")
		p.kill(t)
		requireOnce(t, pool, thread, events)
		waitGone(t, pool)
		passTime(t, pool)
		start(t, pool, s)
		_, second := conversation(t, pool, events)
		waitStatus(t, pool, second, "completed")
		require.Equal(t, "completed", jobStatus(t, pool, job))
		require.Equal(t, 1, count(t, pool, `SELECT attempts FROM hippocampus.consolidation_jobs WHERE id = $1`, job))
		require.Equal(t, events, count(t, pool, `SELECT count(*) FROM hippocampus.memories
			WHERE thread_id = $1 AND memory_type = 'episodic'`, thread))
	})

	t.Run("WhileItEmbedsTheQueue", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.DB(t, dbtest.Durable())
		s := newServer(t)
		s.hold(opEmbed)
		_, err := pool.Exec(t.Context(), `SELECT hippocampus.remember('ada', 'app', 'sushi ' || i) FROM generate_series(1, 5) i`)
		require.NoError(t, err)
		p := start(t, pool, s)
		receive(t, "the embedder", s.arrived)
		p.kill(t)
		s.release(opEmbed)
		waitGone(t, pool)
		require.Zero(t, count(t, pool, `SELECT count(*) FROM hippocampus.embeddings`))
		require.Equal(t, 5, count(t, pool, `SELECT count(*) FROM hippocampus.embedding_queue`))
		passTime(t, pool)
		start(t, pool, s)
		waitEmbedded(t, pool)
	})
}

func TestSignals(t *testing.T) {
	t.Parallel()

	t.Run("FirstLetsJobsEnd", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.DB(t)
		s := newServer(t)
		s.hold(opSummarize)
		p := start(t, pool, s, "--stop-timeout=60s")
		thread, job := conversation(t, pool, events)
		receive(t, "the summarizer", s.arrived)
		require.NoError(t, p.Process.Signal(syscall.SIGTERM))
		eventually(t, "the worker to stop", func() bool { return strings.Contains(p.text(), "the worker stops") })
		require.Equal(t, "running", jobStatus(t, pool, job))
		s.release(opSummarize)
		receive(t, "the process's end", p.done)
		require.Zero(t, p.ProcessState.ExitCode())
		require.Equal(t, "completed", jobStatus(t, pool, job))
		requireOnce(t, pool, thread, events)
	})

	t.Run("SecondEndsAtOnce", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.DB(t)
		s := newServer(t)
		s.hold(opSummarize)
		p := start(t, pool, s, "--stop-timeout=10m")
		_, job := conversation(t, pool, events)
		receive(t, "the summarizer", s.arrived)
		require.NoError(t, p.Process.Signal(os.Interrupt))
		eventually(t, "the worker to stop", func() bool { return strings.Contains(p.text(), "the worker stops") })
		require.NoError(t, p.Process.Signal(os.Interrupt))
		receive(t, "the process's end", p.done)
		require.NotZero(t, p.ProcessState.ExitCode())
		require.Equal(t, "running", jobStatus(t, pool, job))
	})

	t.Run("TimeoutGivesJobsBack", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.DB(t)
		s := newServer(t)
		s.hold(opSummarize)
		p := start(t, pool, s, "--stop-timeout=50ms")
		thread, job := conversation(t, pool, events)
		receive(t, "the summarizer", s.arrived)
		require.NoError(t, p.Process.Signal(syscall.SIGTERM))
		receive(t, "the process's end", p.done)
		require.Zero(t, p.ProcessState.ExitCode())
		require.Equal(t, "pending", jobStatus(t, pool, job))
		s.release(opSummarize)
		start(t, pool, s)
		waitStatus(t, pool, job, "completed")
		requireOnce(t, pool, thread, events)
		require.Equal(t, 1, count(t, pool, `SELECT attempts FROM hippocampus.consolidation_jobs`))
	})
}

// TestProvider has a provider misbehave.
func TestProvider(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		operation string
		answer    http.HandlerFunc
		err       string
		raw       string
	}{
		"Garbage":    {opReflect, func(w http.ResponseWriter, _ *http.Request) { say(w, "I am sorry, Dave.") }, "invalid reply", "I am sorry, Dave."},
		"HalfJSON":   {opReflect, func(w http.ResponseWriter, _ *http.Request) { say(w, `{"facts": [{"type": "pref`) }, "invalid reply", `{"facts": [{"type": "pref`},
		"NoChoice":   {opSummarize, status(http.StatusOK, `{"choices": []}`), "the reply has no choice", ""},
		"NotJSON":    {opSummarize, status(http.StatusOK, `<html>`), "openai summarize", ""},
		"Rejected":   {opSummarize, status(http.StatusUnauthorized, `{"error": {"message": "no such key"}}`), "HTTP 401", ""},
		"ServerDown": {opSummarize, status(http.StatusInternalServerError, `{"error": {"message": "oops"}}`), "HTTP 500", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := dbtest.DB(t)
			s := newServer(t)
			s.answer(c.operation, c.answer)
			thread, job := conversation(t, pool, events)
			_, err := pool.Exec(t.Context(), `UPDATE hippocampus.river_job SET max_attempts = 1 WHERE kind = 'consolidate'`)
			require.NoError(t, err)
			start(t, pool, s)
			waitStatus(t, pool, job, "failed")
			var message string
			var raw *string
			err = pool.QueryRow(t.Context(), `SELECT error, raw_reply FROM hippocampus.consolidation_jobs WHERE id = $1`, job).Scan(&message, &raw)
			require.NoError(t, err)
			require.Contains(t, message, c.err)
			if c.raw != "" {
				require.NotNil(t, raw)
				require.Equal(t, c.raw, *raw)
			}
			// The provider is well again: nothing was lost.
			s.answer(c.operation, nil)
			var again uuid.UUID
			require.NoError(t, pool.QueryRow(t.Context(), `SELECT hippocampus.enqueue_consolidation($1)`, thread).Scan(&again))
			waitStatus(t, pool, again, "completed")
			requireOnce(t, pool, thread, events)
		})
	}

	t.Run("RateLimited", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.DB(t)
		s := newServer(t)
		s.answer(opSummarize, status(http.StatusTooManyRequests, `{"error": {"message": "slow down"}}`, "Retry-After", "3000"))
		thread, job := conversation(t, pool, events)
		start(t, pool, s)
		eventually(t, "the snooze", func() bool {
			return count(t, pool, `SELECT count(*) FROM hippocampus.river_job WHERE state = 'scheduled' AND kind = 'consolidate'
				AND scheduled_at > now() + interval '40 minutes'`) == 1
		})
		require.Equal(t, "pending", jobStatus(t, pool, job))
		require.Equal(t, 1, s.calls(opSummarize))
		s.answer(opSummarize, nil)
		_, err := pool.Exec(t.Context(), `UPDATE hippocampus.river_job SET scheduled_at = now() WHERE state = 'scheduled' AND kind = 'consolidate'`)
		require.NoError(t, err)
		waitStatus(t, pool, job, "completed")
		requireOnce(t, pool, thread, events)
	})

	t.Run("WrongDimension", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.DB(t)
		s := newServer(t)
		s.answer(opEmbed, status(http.StatusOK, `{"data": [{"index": 0, "embedding": [1, 0]}]}`))
		thread, job := conversation(t, pool, events)
		start(t, pool, s)
		waitStatus(t, pool, job, "completed")
		requireOnce(t, pool, thread, events)
		eventually(t, "the error", func() bool {
			return count(t, pool, `SELECT count(*) FROM hippocampus.embedding_queue WHERE error IS NOT NULL`) > 0
		})
		require.Zero(t, count(t, pool, `SELECT count(*) FROM hippocampus.embeddings`))
	})
}
