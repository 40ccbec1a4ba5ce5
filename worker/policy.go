package worker

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/hippocampus-memory/hippocampus/db"
)

const (
	// policyBatch is how many consolidations are enqueued in one transaction, which holds their threads
	// for as long, and how many sleeps.
	policyBatch = 50

	policyTimeout = time.Minute

	// sharedBatch is how many shared memories get the vector that came after they were shared.
	sharedBatch = 1000

	// sleepShare bounds the look for users whose sleep is due, which goes through all users: a look that
	// took a second is not repeated for this many.
	sleepShare = 100
)

// PolicyArgs asks for what the policies of apps say is due: consolidations that no append enqueued,
// and thresholds that are off their target. The clock enqueues it, by [Config].PolicyInterval.
type PolicyArgs struct{}

// Kind is the name of the kind.
func (PolicyArgs) Kind() string { return "policy" }

// InsertOpts let one job run at a time. The next one comes soon enough, but one whose worker was killed would have been given
// up without a second attempt, which is reported.
func (PolicyArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: 2, Queue: queueMaintenance, UniqueOpts: once()}
}

type policyWorker struct {
	river.WorkerDefaults[PolicyArgs]
	*Worker

	nextSleeps atomic.Int64 // when to look for sleeps again, in Unix nanoseconds
}

// Timeout is the time limit of a job.
func (w *policyWorker) Timeout(*river.Job[PolicyArgs]) time.Duration { return policyTimeout }

// Work enqueues batch by batch, each in a transaction of its own.
func (w *policyWorker) Work(ctx context.Context, job *river.Job[PolicyArgs]) error {
	enqueued := 0
	for {
		n, err := w.batch(ctx)
		if err != nil {
			return fmt.Errorf("enqueue what is due: %w", db.Wrap(err))
		}
		enqueued += n
		if n < policyBatch {
			break
		}
	}
	if _, err := w.queries.PolicyRefreshShared(ctx, w.pool, sharedBatch); err != nil {
		return fmt.Errorf("refresh shared memories: %w", db.Wrap(err))
	}
	moved, err := w.queries.PolicyAdapt(ctx, w.pool)
	if err != nil {
		return fmt.Errorf("adapt thresholds: %w", db.Wrap(err))
	}
	sleeps, err := w.sleeps(ctx)
	if err != nil {
		return fmt.Errorf("enqueue sleeps: %w", db.Wrap(err))
	}
	if enqueued > 0 || moved > 0 || sleeps > 0 {
		w.logger.InfoContext(ctx, "policies were seen to", "job", job.ID, "consolidations", enqueued, "thresholds", moved, "sleeps", sleeps)
	}
	return nil
}

func (w *policyWorker) sleeps(ctx context.Context) (int32, error) {
	start := time.Now()
	if start.UnixNano() < w.nextSleeps.Load() {
		return 0, nil
	}
	sleeps, err := w.queries.SleepEnqueueDue(ctx, w.pool, policyBatch)
	w.nextSleeps.Store(time.Now().Add(sleepShare * time.Since(start)).UnixNano())
	return sleeps, err
}

func (w *policyWorker) batch(ctx context.Context) (enqueued int, err error) {
	err = pgx.BeginTxFunc(ctx, w.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		n, err := w.queries.PolicyEnqueueDue(ctx, tx, policyBatch)
		enqueued = int(n)
		return err
	})
	return enqueued, err
}
