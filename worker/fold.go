package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"github.com/hippocampus-memory/hippocampus/db"
)

const (
	// foldInterval is how often the index of words is looked through for rows that are gone. Mostly who
	// deletes them takes them out at once.
	foldInterval = time.Minute

	foldTimeout = 10 * time.Minute
	foldUsers   = 10_000 // at a time

	// foldRows and foldRowsAfter are how many rows of a source are worth folding: at the end of a sweep, and after a
	// consolidation, as many as any writer lets come together.
	foldRows      = 16
	foldRowsAfter = 64
)

// FoldTermsArgs asks for taking rows that are gone out of the index of words, where who deleted them
// could not: many at once, or somebody else was at the user's index. The clock enqueues it where
// there are such rows.
type FoldTermsArgs struct{}

// Kind is the name of the kind.
func (FoldTermsArgs) Kind() string { return "fold_terms" }

// InsertOpts let one job run at a time. The next one comes soon enough, but one whose worker was killed would have been given
// up without a second attempt, which is reported.
func (FoldTermsArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: 2, Queue: queueMaintenance, UniqueOpts: once()}
}

type foldTermsWorker struct {
	river.WorkerDefaults[FoldTermsArgs]
	*Worker
}

// Timeout is the time limit of a job.
func (w *foldTermsWorker) Timeout(*river.Job[FoldTermsArgs]) time.Duration { return foldTimeout }

// Work takes out what is noted now.
func (w *foldTermsWorker) Work(ctx context.Context, _ *river.Job[FoldTermsArgs]) error {
	return w.foldTerms(ctx, false)
}

// foldTerms takes rows that are gone out of the index of words, and folds what writers have left of it where
// unfolded is set. In a transaction a user: what one has written into its index by hand, and what keeps its
// postings, is no other user's matter.
func (w *Worker) foldTerms(ctx context.Context, unfolded bool) error {
	users, err := w.queries.TermListUsers(ctx, w.pool, &db.TermListUsersParams{MaxUsers: foldUsers, Unfolded: unfolded})
	if err != nil {
		return fmt.Errorf("list users whose terms are to be folded: %w", db.Wrap(err))
	}
	var errs []error
	for _, u := range users {
		if _, err := w.queries.TermFold(ctx, w.pool, &db.TermFoldParams{AppName: u.AppName, MinRows: foldRows, UserID: u.UserID}); err != nil {
			errs = append(errs, fmt.Errorf("fold the terms of a user of app %q: %w", u.AppName, db.Wrap(err)))
		}
	}
	return errors.Join(errs...)
}
