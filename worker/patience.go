package worker

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"github.com/hippocampus-memory/hippocampus/model"
)

const (
	rateLimitBase = 5 * time.Second
	rateLimitMax  = 5 * time.Minute
)

// rateLimit is how long to wait after an error by which a provider asked for patience: as long as it said, else
// ever longer with the number of times that it did so.
func rateLimit(err error, times int) (wait time.Duration, limited bool) {
	var failure *model.Error
	if !errors.As(err, &failure) || failure.Kind != model.KindRateLimited {
		return 0, false
	}
	if failure.RetryAfter > 0 {
		return max(jitter(failure.RetryAfter), failure.RetryAfter), true
	}
	return backoff(times, rateLimitBase, rateLimitMax), true
}

// snooze puts a job off, and counts that. River would make one available at once that is put off for less than minSnooze.
func (w *Worker) snooze(kind string, wait time.Duration) error {
	w.metrics.snoozed(kind)
	return river.JobSnooze(max(wait, minSnooze))
}

// patiently asks a model, and waits in place where its provider asks for patience and the time until then
// allows it: for what would have to be paid again if the job were begun anew.
func (w *Worker) patiently(ctx context.Context, until time.Time, ask func() error) error {
	for times := 1; ; times++ {
		err := ask()
		wait, limited := rateLimit(err, times)
		if !limited || ctx.Err() != nil || time.Now().Add(wait).After(until) {
			return err
		}
		w.logger.InfoContext(ctx, "the provider asks for patience; waiting", "wait", wait.Round(time.Millisecond).String(), "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// patientClassifier is a classifier that is asked patiently, and not after a time.
type patientClassifier struct {
	*Worker
	until time.Time
}

// Classify asks the worker's classifier.
func (c *patientClassifier) Classify(ctx context.Context, in *model.ClassifyInput) (answer *model.Classification, err error) {
	ctx, cancel := context.WithDeadline(ctx, c.until)
	defer cancel()
	err = c.patiently(ctx, c.until, func() (err error) {
		answer, err = c.config.Models.Classifier.Classify(ctx, in)
		return err
	})
	return answer, err
}
