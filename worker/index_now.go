package worker

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"
)

// indexWait is how often IndexVectors looks whether another worker has done its part.
const indexWait = time.Second

// IndexVectors builds the vector indexes that tenants need, and drops those that none does, at once;
// the clock enqueues the same job by [Config].IndexInterval. Where another worker is at it, it returns at
// once, or, with wait, does what the other has left when that one is done.
func (w *Worker) IndexVectors(ctx context.Context, wait bool) error {
	for {
		err := (&indexWorker{Worker: w}).Work(ctx, &river.Job[IndexArgs]{Args: IndexArgs{Wait: wait}})
		if busy := (*river.JobSnoozeError)(nil); !errors.As(err, &busy) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(indexWait):
		}
	}
}
