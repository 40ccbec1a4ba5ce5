package worker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// asked makes a model that tells when it is asked, and then waits for its context or for go on.
func asked() (started chan struct{}, goOn chan struct{}, wait func(ctx context.Context) error) {
	started, goOn = make(chan struct{}, 100), make(chan struct{})
	return started, goOn, func(ctx context.Context) error {
		started <- struct{}{}
		select {
		case <-ctx.Done():
			return fmt.Errorf("summarize: %w", ctx.Err())
		case <-goOn:
			return nil
		}
	}
}

// slow is a script whose summarizer waits.
func slow(wait func(context.Context) error) *script {
	return &script{summarize: func(ctx context.Context, c *model.Conversation) (*model.Summary, error) {
		if err := wait(ctx); err != nil {
			return nil, err
		}
		return summary(c), nil
	}}
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

// tell makes sure that the record of a job says what River says, at every moment: in one snapshot,
// again and again.
func tell(t *testing.T, b *bundle, stop <-chan struct{}) (lies *atomic.Int64, done chan struct{}) {
	t.Helper()
	lies, done = &atomic.Int64{}, make(chan struct{})
	go func() {
		defer close(done)
		for {
			var n int64
			err := b.pool.QueryRow(t.Context(), `SELECT count(*) FROM hippocampus.consolidation_jobs j
				FULL JOIN (SELECT * FROM hippocampus.river_job WHERE kind = 'consolidate') r ON r.id = j.river_job_id
				WHERE j.status IS DISTINCT FROM CASE r.state::text WHEN 'running' THEN 'running' WHEN 'completed' THEN 'completed'
					WHEN 'discarded' THEN 'failed' WHEN 'cancelled' THEN 'cancelled' ELSE 'pending' END
				AND NOT (j.id IS NULL AND r.state IN ('available', 'completed'))`).Scan(&n)
			if err != nil {
				n = 1 << 32
			}
			lies.Add(n)
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return lies, done
}

func TestConsolidateFailures(t *testing.T) {
	t.Parallel()

	t.Run("Cancelled", func(t *testing.T) {
		t.Parallel()
		started, _, wait := asked()
		b := setup(t, slow(wait), nil)
		b.start(t)
		thread := b.thread(t, "one")
		id := b.enqueue(t, b.pool, thread, worker.FullConsolidation)
		receive(t, "the summarizer", started)
		_, err := b.Client().JobCancel(t.Context(), b.job(t, id))
		require.NoError(t, err)
		job := b.wait(t, id, "cancelled")
		require.NotNil(t, job.CompletedAt)
		require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.memories`))
		require.Zero(t, b.count(t, `SELECT least(replayed_seq, reflected_seq) FROM hippocampus.threads`))
	})

	t.Run("ForgottenMeanwhile", func(t *testing.T) {
		t.Parallel()
		started, goOn, wait := asked()
		b := setup(t, slow(wait), nil)
		b.start(t)
		thread := b.thread(t, "one")
		id := b.enqueue(t, b.pool, thread, worker.FullConsolidation)
		receive(t, "the summarizer", started)
		_, err := db.New().ThreadForget(t.Context(), b.pool, &db.ThreadForgetParams{AppName: "app", ThreadID: thread, UserID: "ada"})
		require.NoError(t, err)
		done := b.events(t, river.EventKindJobCompleted)
		close(goOn)
		for e := receive(t, "the job's end", done); e.Job.Kind != "consolidate"; {
			e = receive(t, "the job's end", done)
		}
		require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.consolidation_jobs WHERE id = $1`, id))
		for _, table := range []string{"events", "memories", "facts", "memory_sources", "embeddings", "embedding_queue", "row_terms", "postings"} {
			require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.`+table), table)
		}
	})

	t.Run("InvalidReply", func(t *testing.T) {
		t.Parallel()
		var calls atomic.Int64
		s := &script{}
		s.reflect = func(_ context.Context, c *model.Conversation) (*model.Reflection, error) {
			if calls.Add(1) == 1 {
				return nil, &model.Error{Err: errors.New("half a JSON"), Kind: model.KindInvalidReply, RawReply: `{"facts": [{"key`}
			}
			return reflection(c), nil
		}
		b := setup(t, s, nil)
		events := b.events(t, river.EventKindJobFailed)
		b.start(t)
		thread := b.thread(t, "color=red")
		id := b.enqueue(t, b.pool, thread, worker.FullConsolidation)
		receive(t, "the failure", events)
		job, err := db.New().JobGet(t.Context(), b.pool, id)
		require.NoError(t, err)
		if job.Status == "pending" { // it may have been started again by now
			require.Contains(t, *job.Error, "half a JSON")
			require.Equal(t, `{"facts": [{"key`, *job.RawReply)
			require.EqualValues(t, 1, job.Attempts)
		}
		job = b.wait(t, id, "completed")
		require.Nil(t, job.RawReply)
		require.Nil(t, job.Error)
		require.EqualValues(t, 2, job.Attempts)
		b.drain(t)
		b.hasAll(t, thread, 1)
		// What succeeded at the first attempt was kept.
		_, summaries := s.calls()
		require.Equal(t, 1, summaries)
		require.Equal(t, 1, result(t, job).Summaries)
		require.Equal(t, 1, result(t, job).Facts)
	})

	t.Run("NeverAnswers", func(t *testing.T) {
		t.Parallel()
		_, _, wait := asked()
		b := setup(t, slow(wait), func(c *worker.Config) {
			c.ConsolidateTimeout, c.CountTokensTimeout, c.EmbedTimeout = 200*time.Millisecond, time.Second, time.Second
		})
		thread := b.thread(t, "one")
		id := b.enqueue(t, b.pool, thread, worker.FastReplay)
		b.oneAttempt(t, id)
		b.start(t)
		job := b.wait(t, id, "failed")
		require.Contains(t, *job.Error, "stopped at the time limit of 200ms")
	})

	t.Run("NoConnectionWhileAModelWorks", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.DB(t, dbtest.MaxConns(3)) // the listener's, and two to share
		started, goOn, wait := asked()
		b := setupOn(t, pool, slow(wait), nil)
		b.start(t)
		ids := make([]uuid.UUID, 8)
		for i := range ids {
			ids[i] = b.enqueue(t, b.pool, b.thread(t, fmt.Sprint("thread ", i)), worker.FullConsolidation)
		}
		for range ids {
			receive(t, "the summarizer", started)
		}
		close(goOn)
		for _, id := range ids {
			b.wait(t, id, "completed")
		}
	})

	t.Run("Rejected", func(t *testing.T) {
		t.Parallel()
		s := &script{summarize: func(context.Context, *model.Conversation) (*model.Summary, error) {
			return nil, &model.Error{Kind: model.KindRejected, Operation: "summarize", Provider: "script", Status: 401}
		}}
		b := setup(t, s, nil)
		thread := b.thread(t, "one")
		id := b.enqueue(t, b.pool, thread, worker.FastReplay)
		b.oneAttempt(t, id)
		b.start(t)
		job := b.wait(t, id, "failed")
		require.Contains(t, *job.Error, "script summarize: rejected (HTTP 401)")
		require.EqualValues(t, 1, job.Attempts)
		// The events are not lost: the next job has them.
		s.summarize = nil
		b.wait(t, b.enqueue(t, b.pool, thread, worker.FullConsolidation), "completed")
		b.hasAll(t, thread, 1)
	})

	t.Run("RateLimited", func(t *testing.T) {
		t.Parallel()
		var calls atomic.Int64
		s := &script{summarize: func(_ context.Context, c *model.Conversation) (*model.Summary, error) {
			if calls.Add(1) == 1 {
				return nil, &model.Error{Kind: model.KindRateLimited, Operation: "summarize", Provider: "script", RetryAfter: time.Hour}
			}
			return summary(c), nil
		}}
		b := setup(t, s, nil)
		events := b.events(t, river.EventKindJobSnoozed)
		b.start(t)
		thread := b.thread(t, "one")
		id := b.enqueue(t, b.pool, thread, worker.FastReplay)
		snoozed := receive(t, "the snooze", events).Job
		require.Greater(t, time.Until(snoozed.ScheduledAt), 50*time.Minute)
		job := b.wait(t, id, "pending")
		require.Zero(t, job.Attempts)
		require.Contains(t, *job.Error, "rate limited, retry after 1h0m0s")
		_, err := b.Client().JobRetry(t.Context(), *job.RiverJobID)
		require.NoError(t, err)
		job = b.wait(t, id, "completed")
		require.Nil(t, job.Error)
	})

	t.Run("RetryBesideOneThatIsAsked", func(t *testing.T) {
		t.Parallel()
		// A job fails while a client's open transaction asks for another one of the same thread: River
		// must not wait for the client.
		started, goOn, wait := asked()
		var calls atomic.Int64
		s := &script{}
		s.summarize = func(ctx context.Context, c *model.Conversation) (*model.Summary, error) {
			if calls.Add(1) > 1 {
				return summary(c), nil
			}
			if err := wait(ctx); err != nil {
				return nil, err
			}
			return nil, &model.Error{Kind: model.KindRateLimited, RetryAfter: time.Hour}
		}
		b := setup(t, s, nil)
		b.start(t)
		thread := b.thread(t, "one")
		first := b.enqueue(t, b.pool, thread, worker.FastReplay)
		receive(t, "the summarizer", started)
		tx, err := b.pool.Begin(t.Context())
		require.NoError(t, err)
		defer tx.Rollback(context.WithoutCancel(t.Context()))
		b.append(t, tx, thread, "two")
		second := b.enqueue(t, tx, thread, worker.FastReplay)
		require.NotEqual(t, first, second)
		close(goOn)
		b.wait(t, first, "pending")
		require.NoError(t, tx.Commit(t.Context()))
		b.wait(t, second, "completed")
		require.Equal(t, 2, b.count(t, `SELECT replayed_seq FROM hippocampus.threads`))
		_, err = b.Client().JobRetry(t.Context(), b.job(t, first))
		require.NoError(t, err)
		require.Equal(t, "No events to consolidate", result(t, b.wait(t, first, "completed")).Message)
	})

	t.Run("ARetryEndsWhereAnotherConsolidatedAll", func(t *testing.T) {
		t.Parallel()
		var n atomic.Int64
		started, goOn := make(chan struct{}), make(chan struct{})
		b := setup(t, &script{summarize: func(ctx context.Context, c *model.Conversation) (*model.Summary, error) {
			switch n.Add(1) {
			case 1:
				return nil, &model.Error{Kind: model.KindUnavailable}
			case 2: // the retry thinks while more is appended, and another consolidates it all
				close(started)
				select {
				case <-goOn:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			return summary(c), nil
		}}, nil)
		b.start(t)
		thread := b.thread(t, "one")
		first := b.enqueue(t, b.pool, thread, worker.FastReplay)
		<-started
		b.append(t, b.pool, thread, "two")
		second := b.enqueue(t, b.pool, thread, worker.FastReplay)
		require.NotEqual(t, first, second)
		b.wait(t, second, "completed")
		close(goOn)
		b.wait(t, first, "completed")
		require.Equal(t, 2, b.count(t, `SELECT replayed_seq FROM hippocampus.threads`))
		require.Equal(t, 2, b.count(t, `SELECT count(*) FROM hippocampus.memories WHERE memory_type = 'episodic'`))
	})

	t.Run("StopGivesTheJobBack", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.DB(t)
		started, _, wait := asked()
		first := setupOn(t, pool, slow(wait), func(c *worker.Config) { c.StopTimeout = time.Millisecond })
		require.NoError(t, first.Start(t.Context()))
		thread := first.thread(t, "one")
		id := first.enqueue(t, pool, thread, worker.FullConsolidation)
		receive(t, "the summarizer", started)
		require.NoError(t, first.Stop(t.Context()))
		job := first.wait(t, id, "pending")
		require.Zero(t, job.Attempts)
		second := setupOn(t, pool, &script{}, nil)
		second.start(t)
		require.EqualValues(t, 1, second.wait(t, id, "completed").Attempts)
		second.hasAll(t, thread, 1)
	})
}

func TestExactlyOnce(t *testing.T) {
	t.Parallel()
	// Two workers, and jobs of all types that overlap, of threads that state the same facts and grow
	// meanwhile.
	pool := dbtest.DB(t, dbtest.MaxConns(20))
	flaky := func() *script {
		var n atomic.Int64
		return &script{summarize: func(_ context.Context, c *model.Conversation) (*model.Summary, error) {
			if n.Add(1)%7 == 0 {
				return nil, &model.Error{Kind: model.KindUnavailable}
			}
			return summary(c), nil
		}}
	}
	one := setupOn(t, pool, flaky(), func(c *worker.Config) { c.MaxConversationTokens = 12 })
	two := setupOn(t, pool, flaky(), func(c *worker.Config) { c.MaxConversationTokens = 8 })
	stop := make(chan struct{})
	lies, done := tell(t, one, stop)
	// What failed is tried again at once: the time of its back-off, up to minutes, is no matter of this test.
	var retriers sync.WaitGroup
	for _, b := range []*bundle{one, two} {
		failed := b.events(t, river.EventKindJobFailed)
		retriers.Go(func() {
			for {
				select {
				case <-stop:
					return
				case e := <-failed:
					if _, err := b.Client().JobRetry(t.Context(), e.Job.ID); err != nil {
						t.Errorf("retry a job: %s", err)
					}
				}
			}
		})
	}
	one.start(t)
	two.start(t)
	const threads, rounds = 6, 8
	ids := make([]uuid.UUID, threads)
	for i := range ids {
		ids[i] = one.thread(t)
	}
	for round := range rounds {
		for i, thread := range ids {
			tx, err := pool.Begin(t.Context())
			require.NoError(t, err)
			one.append(t, tx, thread, fmt.Sprintf("color=%d", round), fmt.Sprintf("says %d %d", i, round))
			for _, jobType := range []string{worker.FastReplay, worker.DeepReflection, worker.FullConsolidation} {
				if rand.IntN(2) == 0 || jobType == worker.FullConsolidation {
					one.enqueue(t, tx, thread, jobType)
				}
			}
			require.NoError(t, tx.Commit(t.Context()))
		}
	}
	one.drain(t)
	close(stop)
	<-done
	retriers.Wait()
	require.Zero(t, lies.Load(), "times that consolidation_jobs did not say what River says")
	for _, thread := range ids {
		one.hasAll(t, thread, 2*rounds)
	}
	require.Equal(t, 1, one.count(t, `SELECT count(*) FROM hippocampus.facts WHERE valid_until IS NULL`))
	// Each statement of each thread is a source of a fact that held, once. What was believed of one before it was known
	// to have begun earlier has its sources, too.
	require.Equal(t, threads*rounds, one.count(t, `SELECT count(*) FROM hippocampus.memory_sources s JOIN hippocampus.facts f ON f.id = s.fact_id
		WHERE f.valid_until IS NULL OR f.valid_until > f.valid_from`))
	require.Zero(t, one.count(t, `SELECT count(*) FROM hippocampus.consolidation_jobs WHERE status NOT IN ('completed', 'cancelled')`))
}

// oneAttempt makes the first failure of a job its last.
func (b *bundle) oneAttempt(t *testing.T, id uuid.UUID) {
	t.Helper()
	_, err := b.pool.Exec(t.Context(), `UPDATE hippocampus.river_job SET max_attempts = 1 WHERE id = $1`, b.job(t, id))
	require.NoError(t, err)
}
