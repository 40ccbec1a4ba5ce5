package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hippocampus-memory/hippocampus/db"
)

// drainInterval is how often Drain looks.
const drainInterval = 50 * time.Millisecond

// countUnfinished counts what a worker has still to do for what was written. sqlc doesn't know River's
// tables, so it stands here.
const countUnfinished = `
	SELECT (SELECT count(*) FROM hippocampus.river_job r
	        WHERE r.queue IN ('consolidation', 'sweep') AND r.state IN ('available', 'pending', 'retryable', 'running', 'scheduled'))
	     + (SELECT count(*) FROM hippocampus.embedding_queue q WHERE q.run_after <= now())
	     + (SELECT count(*) FROM hippocampus.events e WHERE NOT e.token_count_exact)
	     + (SELECT count(*) FROM hippocampus.memories m WHERE NOT m.token_count_exact)
	     + (SELECT count(*) FROM hippocampus.facts f WHERE NOT f.token_count_exact)
	     + (SELECT count(*) FROM hippocampus.memory_blocks b WHERE NOT b.token_count_exact)
	     + (SELECT count(*) FROM hippocampus.instructions i WHERE NOT i.token_count_exact)`

// Drain waits until nothing is left to do: no consolidation that has not ended, no row to embed, no
// token to count. It waits for retries, too, so bound it by the context where a model may fail. Rows
// whose next try is put off don't count. The worker must have been started.
func (w *Worker) Drain(ctx context.Context) error {
	for {
		var left int
		if err := w.pool.QueryRow(ctx, countUnfinished).Scan(&left); err != nil {
			return fmt.Errorf("look for jobs that are left: %w", db.Wrap(err))
		}
		if left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %d jobs: %w", left, ctx.Err())
		case <-w.client.Stopped():
			return errors.New("wait for jobs: the worker has stopped")
		case <-time.After(drainInterval):
		}
	}
}

// Ready tells whether the worker works: it was started, and has not stopped, and its database
// answers and fits this binary.
func (w *Worker) Ready(ctx context.Context) error {
	select {
	case <-w.client.Stopped():
		return errors.New("the worker has stopped")
	default:
	}
	if !w.started.Load() {
		return errors.New("the worker has not started")
	}
	return db.CheckCompatible(ctx, w.pool)
}

// atLeast lets through what is of a level or above: River tells of each failed job at level info,
// as this package does in its own words.
type atLeast struct {
	slog.Handler
	level slog.Level
}

// Enabled is slog's.
func (h atLeast) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.level && h.Handler.Enabled(ctx, level)
}

// WithAttrs is slog's.
func (h atLeast) WithAttrs(attrs []slog.Attr) slog.Handler {
	return atLeast{Handler: h.Handler.WithAttrs(attrs), level: h.level}
}

// WithGroup is slog's.
func (h atLeast) WithGroup(name string) slog.Handler {
	return atLeast{Handler: h.Handler.WithGroup(name), level: h.level}
}
