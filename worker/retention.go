package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/hippocampus-memory/hippocampus/db"
)

// retentionLockTimeout bounds a batch's wait for a lock: it skips rows that are locked, so it waits
// for a migration at most.
const retentionLockTimeout = time.Second

// RetentionArgs asks for a sweep: memories whose time has come and that are below their policy's
// threshold, or beyond their user's number, are deleted, and so are items of the store whose time is
// over. The clock enqueues it, by [Config].RetentionSchedule.
type RetentionArgs struct{}

// Kind is the name of the kind.
func (RetentionArgs) Kind() string { return "retention" }

// InsertOpts let one sweep run at a time.
func (RetentionArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: 10, Queue: queueMaintenance, UniqueOpts: once()}
}

type retentionWorker struct {
	river.WorkerDefaults[RetentionArgs]
	*Worker
}

// Timeout is the time limit of an attempt.
func (w *retentionWorker) Timeout(*river.Job[RetentionArgs]) time.Duration {
	return w.config.RetentionTimeout
}

// retentionProgress is how far a sweep came. It stands in the job's metadata, and is written there
// with each batch, so that another attempt goes on where one was cut off: what a batch dealt with is
// no longer due.
type retentionProgress struct {
	Swept     bool  `json:"swept,omitempty"`
	Scanned   int64 `json:"scanned"`
	Refreshed int64 `json:"refreshed"`
	Deleted   int64 `json:"deleted"`
}

// Work sweeps batch by batch, each in a transaction of its own that locks no more than its rows.
func (w *retentionWorker) Work(ctx context.Context, job *river.Job[RetentionArgs]) error {
	var metadata struct {
		Progress retentionProgress `json:"progress"`
	}
	if err := json.Unmarshal(job.Metadata, &metadata); err != nil {
		return fmt.Errorf("read how far the sweep came: %w", err)
	}
	p := metadata.Progress
	for done := false; !done; {
		next := p
		err := pgx.BeginTxFunc(ctx, w.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL lock_timeout = '%dms'", retentionLockTimeout.Milliseconds()))
			if err != nil {
				return err
			}
			if done, err = w.batch(ctx, tx, &next); err != nil {
				return err
			}
			return saveProgress(ctx, tx, job.ID, &next)
		})
		if err != nil {
			return fmt.Errorf("sweep a batch: %w", db.Wrap(err))
		}
		w.metrics.retained.WithLabelValues("scanned").Add(float64(next.Scanned - p.Scanned))
		w.metrics.retained.WithLabelValues("refreshed").Add(float64(next.Refreshed - p.Refreshed))
		w.metrics.retained.WithLabelValues("deleted").Add(float64(next.Deleted - p.Deleted))
		p = next
	}
	if err := w.foldTerms(ctx, true); err != nil {
		return err
	}
	w.logger.InfoContext(ctx, "retention has swept", "job", job.ID, "scanned", p.Scanned,
		"refreshed", p.Refreshed, "deleted", p.Deleted)
	return nil
}

// batch sweeps the next memories that are due, or, when all were, trims users that have too many.
func (w *retentionWorker) batch(ctx context.Context, tx pgx.Tx, p *retentionProgress) (done bool, err error) {
	limit := int32(w.config.RetentionBatch)
	if p.Swept {
		deleted, err := w.queries.RetentionTrim(ctx, tx, limit)
		if err != nil {
			return false, err
		}
		p.Deleted += int64(deleted)
		if deleted > 0 {
			return false, nil
		}
		// Items of the store whose time is over are seen by nobody: they go last.
		expired, err := w.queries.StoreSweep(ctx, tx, limit)
		if err != nil {
			return false, err
		}
		p.Deleted += int64(expired)
		if expired > 0 {
			return false, nil
		}
		return true, nil
	}
	b, err := w.queries.RetentionSweep(ctx, tx, limit)
	if err != nil {
		return false, err
	}
	p.Deleted += int64(b.Deleted)
	p.Refreshed += int64(b.Refreshed)
	p.Scanned += int64(b.Scanned)
	p.Swept = b.Scanned < limit
	return false, nil
}

func saveProgress(ctx context.Context, tx pgx.Tx, jobID int64, p *retentionProgress) error {
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write how far the sweep came: %w", err)
	}
	tag, err := tx.Exec(ctx, `UPDATE hippocampus.river_job r SET metadata = r.metadata || jsonb_build_object('progress', $2::jsonb)
		WHERE r.id = $1 AND r.state = 'running'`, jobID, text)
	if err != nil {
		return fmt.Errorf("write how far the sweep came: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return errors.New("the job was given up for dead while it ran")
	}
	return nil
}
