package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// drainInterval is how often Drain looks, drainNotice how often it says what it waits for.
const (
	drainInterval = 50 * time.Millisecond
	drainNotice   = 15 * time.Second
)

// jobsAreLeft asks for jobs that have not ended. sqlc doesn't know River's tables, so it stands here.
const jobsAreLeft = `SELECT EXISTS (SELECT FROM hippocampus.river_job r
	WHERE r.queue = ANY ($1) AND r.state IN ('available', 'pending', 'retryable', 'running', 'scheduled'))`

// jobsAreElsewhere asks for jobs that run, but in no client of ours, and for those that wait for another try.
const jobsAreElsewhere = `SELECT count(*) FILTER (WHERE r.state = 'running' AND r.attempted_by[cardinality(r.attempted_by)] <> $1),
	count(*) FILTER (WHERE r.state IN ('retryable', 'scheduled')), min(r.scheduled_at) FILTER (WHERE r.state IN ('retryable', 'scheduled'))
	FROM hippocampus.river_job r WHERE r.queue = ANY ($2)`

// drained are the queues that Drain waits for: those that this worker works on.
func (w *Worker) drained() []string {
	var queues []string
	if w.takesShared() {
		queues = append(queues, queueConsolidation, queueSweep)
	}
	for _, g := range w.embedding() {
		queues = append(queues, embedQueue(g))
	}
	return queues
}

// embedding are the generations whose vectors Drain waits for: none while the embedder makes none.
func (w *Worker) embedding() []int32 {
	if w.refused.Load() != nil {
		return nil
	}
	return w.joined()
}

// tellWaiting logs what Drain waits for: a job of a worker that died looks as if it ran until it is rescued.
func (w *Worker) tellWaiting(ctx context.Context, what string) {
	var (
		elsewhere, again int64
		next             *time.Time
	)
	err := w.pool.QueryRow(ctx, jobsAreElsewhere, w.client.ID(), w.drained()).Scan(&elsewhere, &again, &next)
	if err != nil {
		w.logger.WarnContext(ctx, "what is waited for could not be read", "error", db.Wrap(err))
		return
	}
	args := []any{"for", what}
	if elsewhere > 0 {
		args = append(args, "running_elsewhere", elsewhere, "taken_over_if_dead_after", w.config.RescueAfter.String())
	}
	if again > 0 {
		args = append(args, "tried_again_later", again, "next_try", next.UTC().Format(time.RFC3339))
	}
	w.logger.InfoContext(ctx, "still waiting", args...)
}

// isLeft tells what is left to do, of one moment: between two, work may go from a job to a queue.
func (w *Worker) isLeft(ctx context.Context) (what string, err error) {
	err = pgx.BeginTxFunc(ctx, w.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		for _, look := range []struct {
			what string
			left func(context.Context) (bool, error)
		}{
			{"jobs", func(ctx context.Context) (left bool, err error) {
				err = tx.QueryRow(ctx, jobsAreLeft, w.drained()).Scan(&left)
				return left, err
			}},
			{"rows to embed", func(ctx context.Context) (bool, error) {
				due, err := w.queries.EmbeddingDueGenerations(ctx, tx)
				return slices.ContainsFunc(due, func(g int32) bool { return slices.Contains(w.embedding(), g) }), err
			}},
			{"tokens to count", func(ctx context.Context) (bool, error) {
				if !w.takesShared() {
					return false, nil
				}
				return w.queries.TokenIsDue(ctx, tx)
			}},
		} {
			if left, err := look.left(ctx); err != nil {
				return err
			} else if left {
				what = look.what
				return nil
			}
		}
		return nil
	})
	return what, err
}

// Drain waits until nothing is left to do: no consolidation that has not ended, no row to embed with
// this worker's model, no token to count. It waits for retries, too, so bound it by the context where a model may fail. Rows
// whose next try is put off don't count. Where the embedder refuses to make any vector (a key, a name or a dimension that
// somebody has to mend), it fails when all else is done. The worker must have been started.
func (w *Worker) Drain(ctx context.Context) error {
	notice := time.NewTicker(drainNotice)
	defer notice.Stop()
	for {
		left, err := w.isLeft(ctx)
		if err != nil {
			return fmt.Errorf("look for what is left to do: %w", db.Wrap(err))
		}
		if refused := w.refused.Load(); left == "" && refused != nil {
			return fmt.Errorf("rows are left without a vector: %w", refused)
		}
		if left == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", left, ctx.Err())
		case <-w.client.Stopped():
			return errors.New("wait for jobs: the worker has stopped")
		case <-notice.C:
			w.tellWaiting(ctx, left)
		case <-time.After(drainInterval):
		}
	}
}

// Ready tells whether the worker works: it was started, and has not stopped, none of its queues is
// paused, and its database answers and fits this binary.
func (w *Worker) Ready(ctx context.Context) error {
	select {
	case <-w.client.Stopped():
		return errors.New("the worker has stopped")
	default:
	}
	if !w.started.Load() {
		return errors.New("the worker has not started")
	}
	if err := w.errPaused(); err != nil {
		return err
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
