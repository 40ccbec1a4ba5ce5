package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/hippocampus-memory/hippocampus/db"
)

const (
	// foldInterval is how often the index of words is looked through for rows that are gone. Mostly who
	// deletes them takes them out at once; a sweep's end takes out its own.
	foldInterval = time.Minute

	foldTimeout = 10 * time.Minute
	foldUsers   = 1000 // in one transaction, which has their postings to itself as long
)

// FoldTermsArgs asks for taking rows that are gone out of the index of words, where somebody else was
// at a user's index when they went. The clock enqueues it where there are such rows.
type FoldTermsArgs struct{}

// Kind is the name of the kind.
func (FoldTermsArgs) Kind() string { return "fold_terms" }

// InsertOpts let one job run at a time. The next one comes soon enough, so none is repeated.
func (FoldTermsArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: 1, Queue: queueMaintenance, UniqueOpts: once()}
}

type foldTermsWorker struct {
	river.WorkerDefaults[FoldTermsArgs]
	*Worker
}

// Timeout is the time limit of a job.
func (w *foldTermsWorker) Timeout(*river.Job[FoldTermsArgs]) time.Duration { return foldTimeout }

// Work takes out what is noted now.
func (w *foldTermsWorker) Work(ctx context.Context, _ *river.Job[FoldTermsArgs]) error {
	err := pgx.BeginTxFunc(ctx, w.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		_, err := w.queries.TermsFold(ctx, tx, foldUsers)
		return err
	})
	if err != nil {
		return fmt.Errorf("fold terms: %w", db.Wrap(err))
	}
	return nil
}
