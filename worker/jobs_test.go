package worker_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// However the job of a sleep ends, the report says so, and the user's next sleep is enqueued.
func TestSleepReportFollowsItsJob(t *testing.T) {
	t.Parallel()
	asleep := func(t *testing.T, b *bundle) (id uuid.UUID, job int64) {
		t.Helper()
		require.NoError(t, b.pool.QueryRow(t.Context(), "SELECT hippocampus.enqueue_sleep('ada', 'app')").Scan(&id))
		require.NoError(t, b.pool.QueryRow(t.Context(), "SELECT id FROM hippocampus.river_job WHERE kind = 'sleep' AND args ->> 'report_id' = $1", id.String()).Scan(&job))
		return id, job
	}
	is := func(t *testing.T, b *bundle, id uuid.UUID, status string) {
		t.Helper()
		b.eventually(t, "the report to be "+status, func() bool {
			return b.count(t, "SELECT count(*) FROM hippocampus.sleep_reports WHERE id = $1 AND status = $2 AND (completed_at IS NULL) = ($2 IN ('pending', 'running'))", id, status) == 1
		})
	}
	for name, end := range map[string]struct {
		status string
		end    func(t *testing.T, b *bundle, job int64)
	}{
		"Cancelled": {"cancelled", func(t *testing.T, b *bundle, job int64) {
			t.Helper()
			_, err := b.Client().JobCancel(t.Context(), job)
			require.NoError(t, err)
		}},
		"Deleted": {"cancelled", func(t *testing.T, b *bundle, job int64) {
			t.Helper()
			_, err := b.Client().JobDelete(t.Context(), job)
			require.NoError(t, err)
		}},
		"GivenUp": {"failed", func(t *testing.T, b *bundle, job int64) {
			t.Helper() // as River's rescuer does after a kill
			_, err := b.pool.Exec(t.Context(), `UPDATE hippocampus.river_job SET state = 'discarded', finalized_at = now() WHERE id = $1`, job)
			require.NoError(t, err)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, &script{}, nil)
			first, job := asleep(t, b)
			end.end(t, b, job)
			is(t, b, first, end.status)
			second, _ := asleep(t, b)
			require.NotEqual(t, first, second)
			if name != "Deleted" { // tried again by hand while the other one waits
				_, err := b.Client().JobRetry(t.Context(), job)
				require.NoError(t, err)
			}
			b.start(t)
			is(t, b, second, "completed")
			if name != "Deleted" {
				is(t, b, first, "completed")
			}
		})
	}

	t.Run("Running", func(t *testing.T) {
		t.Parallel()
		started, goOn, wait := asked()
		panics := false
		b := setup(t, &script{embed: alike, summarize: func(ctx context.Context, c *model.Conversation) (*model.Summary, error) {
			if panics {
				panic("a fault")
			}
			if err := wait(ctx); err != nil {
				return nil, err
			}
			return summary(c), nil
		}}, nil)
		b.episodes(t, 1)
		b.start(t)
		first, job := asleep(t, b)
		receive(t, "the summarizer", started)
		is(t, b, first, "running")
		_, err := b.Client().JobCancel(t.Context(), job)
		require.NoError(t, err)
		is(t, b, first, "cancelled")
		panics = true
		var second uuid.UUID
		require.NoError(t, pgx.BeginFunc(t.Context(), b.pool, func(tx pgx.Tx) error {
			if err := tx.QueryRow(t.Context(), "SELECT hippocampus.enqueue_sleep('ada', 'app')").Scan(&second); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), "UPDATE hippocampus.river_job SET max_attempts = 1 WHERE kind = 'sleep' AND state = 'available'")
			return err
		}))
		is(t, b, second, "failed")
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM hippocampus.sleep_reports WHERE id = $1 AND error IS NOT NULL", second))
		close(goOn)
	})
}

// What takes hours keeps nothing from its turn that takes moments.
func TestMaintenanceBesideWhatIsSlow(t *testing.T) {
	t.Parallel()
	arrived, held := make(chan string, 10), make(chan struct{})
	hold := func(ctx context.Context, what string) error {
		arrived <- what
		select {
		case <-held:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	b := setup(t, &script{
		embed: func(ctx context.Context, texts []string) ([][]float32, error) {
			if slices.Contains(texts, "Liveness probe") {
				if err := hold(ctx, "rebuild"); err != nil {
					return nil, err
				}
			}
			return vectors(texts), nil
		},
		reflect: func(ctx context.Context, c *model.Conversation) (*model.Reflection, error) {
			if err := hold(ctx, "harvest"); err != nil {
				return nil, err
			}
			return reflection(c), nil
		},
	}, quickly)
	_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.put_document('ada', 'app', 'probes.md',
		'[{"content": "restarts a container", "start_line": 1, "heading": "Liveness probe"}]')`)
	require.NoError(t, err)
	b.start(t)
	b.drain(t)
	b.thread(t, "no, use async instead")
	_, err = b.Client().Insert(t.Context(), worker.AnchorArgs{}, nil)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"rebuild", "harvest"}, []string{receive(t, "one", arrived), receive(t, "the other", arrived)})
	for _, args := range []river.JobArgs{worker.PolicyArgs{}, worker.FoldTermsArgs{}, worker.RetentionArgs{}, worker.IndexArgs{}} {
		inserted, err := b.Client().Insert(t.Context(), args, nil)
		require.NoError(t, err)
		b.eventually(t, args.Kind(), func() bool {
			return b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE id = $1 AND state = 'completed'`, inserted.Job.ID) == 1
		})
	}
	close(held)
}

// later inserts a job that waits, so that something can be done with its id before it runs.
func (b *bundle) later(t *testing.T, args river.JobArgs, metadata string) int64 {
	t.Helper()
	inserted, err := b.Client().Insert(t.Context(), args, &river.InsertOpts{Metadata: []byte(metadata), ScheduledAt: time.Now().Add(time.Hour)})
	require.NoError(t, err)
	return inserted.Job.ID
}

func (b *bundle) now(t *testing.T, id int64) {
	t.Helper()
	_, err := b.Client().JobRetry(t.Context(), id)
	require.NoError(t, err)
}

func (b *bundle) jobIs(t *testing.T, id int64, state rivertype.JobState) {
	t.Helper()
	b.eventually(t, "the job to be "+string(state), func() bool {
		return b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE id = $1 AND state::text = $2`, id, string(state)) == 1
	})
}

// A job that works shows that it lives before anything that takes long, and is given to nobody else.
func TestSignsOfLife(t *testing.T) {
	t.Parallel()

	t.Run("IndexBeforeItCounts", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		b.start(t)
		b.index(t)
		tx, err := b.pool.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), "LOCK TABLE hippocampus.vector_indexes") // which the list of large tenants reads
		require.NoError(t, err)
		inserted, err := b.Client().Insert(t.Context(), worker.IndexArgs{Reindex: true}, nil)
		require.NoError(t, err)
		b.eventually(t, "the sign of life", func() bool {
			return b.count(t, `SELECT hippocampus._is_held('hippocampus.index_vectors ' || $1::bigint)::integer`, inserted.Job.ID) == 1
		})
		require.NoError(t, tx.Rollback(t.Context()))
		b.jobIs(t, inserted.Job.ID, rivertype.JobStateCompleted)
	})

	t.Run("ReindexThatIsDoneIsNotDoneAgain", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		b.run(t, `SELECT hippocampus.put_setting('*', 'exact_search_rows', '50')`)
		b.large(t, "ada", 80)
		b.start(t)
		b.index(t)
		node := func() int {
			return b.count(t, `SELECT c.relfilenode::bigint FROM pg_class c WHERE c.relname = $1`, b.indexes(t)[0])
		}
		before := node()
		id := b.later(t, worker.IndexArgs{Reindex: true, Wait: true}, `{"progress": {"done": 1, "total": 1}}`)
		b.now(t, id)
		b.jobIs(t, id, rivertype.JobStateCompleted)
		require.Equal(t, before, node())
		id = b.later(t, worker.IndexArgs{Reindex: true, Wait: true}, `{"progress": {"done": 0, "total": 1}}`)
		b.now(t, id)
		b.jobIs(t, id, rivertype.JobStateCompleted)
		require.NotEqual(t, before, node())
	})

	t.Run("RebuildBesideItself", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.put_document('ada', 'app', 'probes.md',
			'[{"content": "restarts a container", "start_line": 1, "heading": "Liveness probe"}]')`)
		require.NoError(t, err)
		b.start(t)
		b.drain(t)
		id := b.later(t, worker.AnchorArgs{}, `{}`)
		conn, err := b.pool.Acquire(t.Context())
		require.NoError(t, err)
		defer conn.Release()
		lock := func(verb string) {
			_, err := conn.Exec(t.Context(), "SELECT pg_advisory_"+verb+"(hashtextextended('hippocampus.rebuild_anchors ' || $1::bigint, 0))", id)
			require.NoError(t, err)
		}
		lock("lock") // as another attempt
		b.now(t, id)
		b.eventually(t, "it to wait for the other", func() bool {
			return b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE id = $1 AND state = 'scheduled' AND metadata ? 'snoozes'`, id) == 1
		})
		require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.anchor_indexes WHERE serving > 0`))
		lock("unlock")
		b.now(t, id)
		b.jobIs(t, id, rivertype.JobStateCompleted)
		require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.anchor_indexes WHERE serving = 1`))
	})
}

// A job of the clock whose worker was killed is done by another one, and none was given up.
func TestKilledWorkerOfTheClock(t *testing.T) {
	t.Parallel()
	for _, args := range []river.JobArgs{worker.FoldTermsArgs{}, worker.PolicyArgs{}} {
		t.Run(args.Kind(), func(t *testing.T) {
			t.Parallel()
			b := setup(t, &script{}, nil)
			inserted, err := b.Client().Insert(t.Context(), args, nil)
			require.NoError(t, err)
			_, err = b.pool.Exec(t.Context(), `UPDATE hippocampus.river_job SET state = 'running', attempt = 1, attempted_at = now() - interval '1 day',
				attempted_by = '{killed}' WHERE id = $1`, inserted.Job.ID)
			require.NoError(t, err)
			b.start(t)
			b.eventually(t, "the job to be rescued", func() bool {
				return b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE id = $1 AND state <> 'running'`, inserted.Job.ID) == 1
			})
			require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE state = 'discarded'`))
			_, err = b.Client().JobRetry(t.Context(), inserted.Job.ID) // need not be waited for
			require.NoError(t, err)
			b.eventually(t, "the job to be done", func() bool {
				return b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE id = $1 AND state = 'completed'`, inserted.Job.ID) == 1
			})
		})
	}
}
