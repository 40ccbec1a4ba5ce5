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
)

// FoldTermsArgs asks for taking rows that are gone out of the index of words, where who deleted them
// could not: many at once, or somebody else was at the user's index. The clock enqueues it where
// there are such rows.
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
	noted, err := w.queries.TermListNoted(ctx, w.pool, foldUsers)
	if err != nil {
		return fmt.Errorf("list users with rows that are gone: %w", db.Wrap(err))
	}
	var errs []error
	for _, u := range noted {
		errs = append(errs, w.foldTerms(ctx, u.UserID, u.AppName))
	}
	return errors.Join(errs...)
}

// foldBacklog folds what writers have left of the index of words.
func (w *Worker) foldBacklog(ctx context.Context) error {
	unfolded, err := w.queries.TermListUnfolded(ctx, w.pool, foldUsers)
	if err != nil {
		return fmt.Errorf("list users with rows that are not folded: %w", db.Wrap(err))
	}
	var errs []error
	for _, u := range unfolded {
		errs = append(errs, w.foldTerms(ctx, u.UserID, u.AppName))
	}
	return errors.Join(errs...)
}

// foldTerms is a transaction a user: what one has written into its index of words by hand, and what
// keeps its postings, is no other user's matter.
func (w *Worker) foldTerms(ctx context.Context, userID, appName string) error {
	if _, err := w.queries.TermFold(ctx, w.pool, &db.TermFoldParams{AppName: appName, UserID: userID}); err != nil {
		return fmt.Errorf("fold the terms of user %q of app %q: %w", userID, appName, db.Wrap(err))
	}
	return nil
}
