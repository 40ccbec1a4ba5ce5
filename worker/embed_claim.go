package worker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hippocampus-memory/hippocampus/db"
)

const (
	// claimTimeout bounds a claim, and the giving back of rows, when the process is to end.
	claimTimeout = 5 * time.Second

	// Rows that somebody holds for a moment are given back in so many tries, with a pause before each.
	releaseTries = 5
	releasePause = 20 * time.Millisecond
)

// claim takes rows off the queue for a time. It is not cut short when the process is to end: rows that are
// claimed and not known of could be given back by nobody.
func (w *embedWorker) claim(ctx context.Context, generation int32) ([]*queuedRow, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimTimeout)
	defer cancel()
	rows, err := w.queries.EmbeddingClaim(ctx, w.pool, &db.EmbeddingClaimParams{
		Generation: generation, LeaseSeconds: w.config.EmbedTimeout.Seconds(), MaxChars: int32(w.maxEmbedChars()),
		MaxRows: int32(min(w.config.embedRows(), w.callSize())),
	})
	if err != nil {
		return nil, fmt.Errorf("claim rows: %w", db.Wrap(err))
	}
	return rows, nil
}

// awaitRate waits until the rate of this process allows the rows. Where the job would not live to embed
// them, they are given back until then, and it says no.
func (b *embedBatch) awaitRate(ctx context.Context, rows []*queuedRow) (bool, error) {
	if b.embedRate == nil {
		return true, nil
	}
	now := time.Now()
	reserved := b.embedRate.ReserveN(now, len(rows))
	wait := reserved.DelayFrom(now)
	if deadline, ok := ctx.Deadline(); ok && wait > time.Until(deadline)/2 {
		reserved.CancelAt(now)
		return false, b.release(ctx, rows, wait)
	}
	select {
	case <-ctx.Done():
		return false, b.release(ctx, rows, 0)
	case <-time.After(wait):
		return true, nil
	}
}

// release gives back rows that were not tried, for others to claim after a time. What somebody looks at that
// moment is tried a few times: else it would wait for the end of its lease.
func (b *embedBatch) release(ctx context.Context, rows []*queuedRow, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimTimeout)
	defer cancel()
	for try := 0; len(rows) > 0 && try < releaseTries; try++ {
		if try > 0 {
			time.Sleep(releasePause)
		}
		ids, userIDs, appNames := rowKeys(rows)
		given, err := b.queries.EmbeddingRelease(ctx, b.pool, &db.EmbeddingReleaseParams{
			AppNames: appNames, DelaySeconds: wait.Seconds(), Generation: b.generation, RowIds: ids, UserIds: userIDs,
		})
		if err != nil {
			return fmt.Errorf("give rows back to the queue: %w", db.Wrap(err))
		}
		rows = slices.DeleteFunc(slices.Clone(rows), func(r *queuedRow) bool {
			return slices.ContainsFunc(given, func(g *db.EmbeddingReleaseRow) bool {
				return g.RowID == r.RowID && g.UserID == r.UserID && g.AppName == r.AppName
			})
		})
	}
	return nil
}
