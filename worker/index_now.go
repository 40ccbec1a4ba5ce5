package worker

import (
	"context"

	"github.com/riverqueue/river"
)

// IndexVectors builds the vector indexes that tenants need, and drops those that none does, at once;
// the clock enqueues the same job by [Config].IndexInterval. It returns at once where another worker
// is at it.
func (w *Worker) IndexVectors(ctx context.Context) error {
	return (&indexWorker{Worker: w}).Work(ctx, &river.Job[IndexArgs]{})
}
