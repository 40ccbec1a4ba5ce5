package worker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"
	"github.com/riverqueue/river"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
)

const (
	// minSnooze is more than the time below which River makes a job available at once; see
	// retryPolicy.
	minSnooze = 10 * time.Second

	// A row that can't be embedded is tried again after this, and ever more seldom.
	embedRetryBase = 30 * time.Second
	embedRetryMax  = time.Hour

	// maxErrorChars bounds what embedding_queue.error holds.
	maxErrorChars = 500

	// poisonRows is after how many rows that failed each by itself, while none succeeded, it is not
	// the rows' fault.
	poisonRows = 3
)

// EmbedArgs asks for the vectors of the rows on embedding_queue. Triggers enqueue it.
type EmbedArgs struct {
	// Generation is the one whose rows are meant; only workers with its model take the job.
	Generation int32 `json:"generation"`

	// Sweep marks the safety net: a job of the clock's, beside those of the triggers.
	Sweep bool `json:"sweep,omitempty"`
}

// Kind is the name of the kind.
func (EmbedArgs) Kind() string { return "embed" }

// InsertOpts are those of the triggers' jobs.
func (a EmbedArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: embedQueue(a.Generation)}
}

// embedQueue is the queue of a generation, as the function _wake_sweeper names it.
func embedQueue(generation int32) string { return fmt.Sprintf("embed_%d", generation) }

type embedWorker struct {
	river.WorkerDefaults[EmbedArgs]
	*Worker
}

// Timeout is the time limit of a job.
func (w *embedWorker) Timeout(*river.Job[EmbedArgs]) time.Duration { return w.config.EmbedTimeout }

type queuedRow = db.EmbeddingClaimRow

// Work works off the queue: it claims rows, embeds them without a connection, and stores each batch
// in one transaction. Of a generation that is building it queues more rows when the queue is empty,
// so that new rows never wait behind many old ones. It ends when nothing is due, or when its time is
// up: what is left is found by the next sweep.
func (w *embedWorker) Work(ctx context.Context, job *river.Job[EmbedArgs]) error {
	started := time.Now()
	for time.Since(started) < w.config.EmbedTimeout/2 {
		if wait := w.embedPause.remaining(); wait > 0 {
			return w.snooze(job.Kind, wait)
		}
		rows, err := w.claim(ctx, job.Args.Generation)
		if err != nil {
			return w.stopped(ctx, err)
		}
		if len(rows) == 0 {
			looked, err := w.queries.EmbeddingGenerationQueue(ctx, w.pool, &db.EmbeddingGenerationQueueParams{
				Generation: job.Args.Generation, MaxRows: int32(4 * w.config.EmbedBatch),
			})
			if err != nil {
				return w.stopped(ctx, fmt.Errorf("queue rows to be embedded anew: %w", db.Wrap(err)))
			}
			if looked == 0 {
				return nil
			}
			continue
		}
		b := &embedBatch{embedWorker: w, generation: job.Args.Generation}
		if ok, err := b.awaitRate(ctx, rows); !ok || err != nil {
			return err
		}
		err = b.work(ctx, rows)
		if errors.Is(err, errTooSlow) { // which no row is to blame for
			if err := b.release(ctx, b.pending, 0); err != nil {
				return w.stopped(ctx, err)
			}
			continue
		}
		if err != nil {
			return w.stopped(ctx, b.giveBack(ctx, err))
		}
		w.logger.DebugContext(ctx, "rows were embedded", "job", job.ID, "rows", b.embedded, "failed", b.failed)
	}
	return nil
}

// isCutOff is whether this process's end cuts a job short, and not its own time limit.
func isCutOff(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded)
}

// stopped makes the end of a sweep that this process's end cuts short a plain one: its rows will be
// found again, and a job that River makes available again might be one too many.
func (w *Worker) stopped(ctx context.Context, err error) error {
	if isCutOff(ctx) {
		return nil
	}
	return err
}

// embedBatch is a batch of rows under work.
type embedBatch struct {
	*embedWorker
	generation       int32
	embedded, failed int
	pending          []*queuedRow
}

// work embeds a batch. It fails if that was not the rows' fault; b.pending are then the rows that
// were not dealt with.
func (b *embedBatch) work(ctx context.Context, rows []*queuedRow) error {
	// user by user, and of each in the order in which forget locks rows
	slices.SortFunc(rows, func(a, b *queuedRow) int {
		return cmp.Or(cmp.Compare(a.UserID, b.UserID), cmp.Compare(a.AppName, b.AppName), cmp.Compare(b.Source, a.Source), bytes.Compare(a.RowID[:], b.RowID[:]))
	})
	var (
		blank []*queuedRow
		left  []*queuedRow
		texts []string
	)
	for _, r := range rows {
		if isBlank(r.Text) {
			blank = append(blank, r)
			continue
		}
		left = append(left, r)
		texts = append(texts, b.embeddable(r.Text))
	}
	if len(blank) > 0 {
		ids, userIDs, appNames := rowKeys(blank)
		err := b.queries.EmbeddingDrop(ctx, b.pool, &db.EmbeddingDropParams{
			AppNames: appNames, Generation: b.generation, RowIds: ids, UserIds: userIDs,
		})
		if err != nil {
			return fmt.Errorf("drop rows without words from the queue: %w", db.Wrap(err))
		}
		b.logger.DebugContext(ctx, "rows that are gone or have no words left the queue", "rows", len(blank))
	}
	return b.embed(ctx, left, texts)
}

// embed embeds rows, and halves them where that fails because of one of them.
func (b *embedBatch) embed(ctx context.Context, rows []*queuedRow, texts []string) error {
	if len(rows) == 0 {
		return nil
	}
	vectors, err := b.call(ctx, texts)
	if err == nil {
		return b.put(ctx, rows, vectors)
	}
	if errors.Is(err, errSlowRow) { // which may be its own fault, so it comes back ever more seldom
		return errors.Join(err, b.later(ctx, rows, backoff(int(rows[0].Attempts), embedRetryBase, embedRetryMax), err))
	}
	if ctx.Err() != nil || !isPoison(err) {
		b.add(rows)
		return err
	}
	if len(rows) == 1 {
		return b.poison(ctx, rows[0], err)
	}
	half := len(rows) / 2
	if err := b.embed(ctx, rows[:half], texts[:half]); err != nil {
		b.add(rows[half:])
		return err
	}
	return b.embed(ctx, rows[half:], texts[half:])
}

// put stores the vectors of the rows that are still there.
func (b *embedBatch) put(ctx context.Context, rows []*queuedRow, vectors [][]float32) error {
	err := db.Wrap(b.putOnce(ctx, rows, vectors))
	switch {
	case err == nil:
		b.embedded += len(rows)
		b.refused.Store(nil)
		b.metrics.embedded.Add(float64(len(rows)))
		b.Worker.embedded.Add(int64(len(rows)))
		return nil
	case ctx.Err() != nil || !errors.Is(err, db.ErrInvalidEmbedding):
		b.add(rows)
		return fmt.Errorf("store vectors: %w", err)
	case len(rows) == 1:
		return b.poison(ctx, rows[0], err)
	}
	half := len(rows) / 2
	if err := b.put(ctx, rows[:half], vectors[:half]); err != nil {
		b.add(rows[half:])
		return err
	}
	return b.put(ctx, rows[half:], vectors[half:])
}

func (b *embedBatch) putOnce(ctx context.Context, rows []*queuedRow, vectors [][]float32) error {
	name := b.config.Models.Embedder.Name()
	return pgx.BeginTxFunc(ctx, b.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		for i, r := range rows {
			err := b.queries.EmbeddingPut(ctx, tx, &db.EmbeddingPutParams{
				AppName: r.AppName, Embedding: pgvector.NewVector(vectors[i]), Model: name, RowID: r.RowID,
				Source: r.Source, UserID: r.UserID,
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// poison puts off a row that can't be embedded. Where every row is such a one, the fault is not
// theirs.
func (b *embedBatch) poison(ctx context.Context, row *queuedRow, reason error) error {
	b.failed++
	if b.embedded == 0 && b.failed >= poisonRows {
		b.add([]*queuedRow{row})
		return reason
	}
	b.logger.WarnContext(ctx, "a row can't be embedded; will try again", "row", row.RowID, "source", row.Source,
		"attempts", row.Attempts, "error", reason)
	return b.later(ctx, []*queuedRow{row}, backoff(int(row.Attempts), embedRetryBase, embedRetryMax), reason)
}

func (b *embedBatch) add(rows []*queuedRow) { b.pending = append(b.pending, rows...) }

// giveBack puts rows back on the queue that were not dealt with, and says what becomes of the job.
func (b *embedBatch) giveBack(ctx context.Context, reason error) error {
	wait := time.Duration(0)
	var failure *model.Error
	systemic := ctx.Err() == nil && errors.As(reason, &failure)
	if systemic {
		wait = b.pauseEmbedding(reason)
	}
	if isCutOff(ctx) { // which no row should be blamed for
		return errors.Join(reason, b.release(ctx, b.pending, 0))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimTimeout)
	defer cancel()
	if err := b.later(ctx, b.pending, wait, reason); err != nil {
		return errors.Join(reason, err) // they come back when their lease ends
	}
	if !systemic {
		return reason
	}
	b.logger.WarnContext(ctx, "the embedder fails; will try again", "rows", len(b.pending), "wait", wait.Round(time.Millisecond).String(), "error", reason)
	return b.snooze(EmbedArgs{}.Kind(), wait)
}

func (b *embedBatch) later(ctx context.Context, rows []*queuedRow, wait time.Duration, reason error) error {
	if len(rows) == 0 {
		return nil
	}
	ids, userIDs, appNames := rowKeys(rows)
	err := b.queries.EmbeddingDefer(ctx, b.pool, &db.EmbeddingDeferParams{
		AppNames: appNames, DelaySeconds: wait.Seconds(), Error: model.FirstRunes(model.CleanText(reason.Error()), maxErrorChars),
		Generation: b.generation, RowIds: ids, UserIds: userIDs,
	})
	if err != nil {
		return fmt.Errorf("put rows back on the queue: %w", db.Wrap(err))
	}
	return nil
}

// pauseEmbedding keeps this process from asking an embedder again for a while, after an error that
// no row is to blame for. It gives the time.
func (w *Worker) pauseEmbedding(reason error) time.Duration {
	wait := jitter(minSnooze)
	var failure *model.Error
	if errors.As(reason, &failure) {
		if failure.Kind == model.KindRejected || errors.Is(reason, model.ErrDimension) { // a key, a name or a number that somebody has to mend
			w.refused.Store(failure)
			wait = jitter(embedRetryBase)
		}
		wait = max(wait, failure.RetryAfter)
	}
	w.embedPause.extend(wait)
	return wait
}

// isPoison is whether an error may be the fault of one of the texts.
func isPoison(err error) bool {
	var failure *model.Error
	if !errors.As(err, &failure) {
		return false
	}
	switch failure.Kind {
	case model.KindInvalidReply:
		return !errors.Is(err, model.ErrDimension)
	case model.KindRejected:
		// Not a key that is not right, nor a model that is not there.
		return failure.Status != 401 && failure.Status != 403 && failure.Status != 404
	case model.KindRateLimited, model.KindUnavailable:
	}
	return false
}

// checkVectors makes sure of what the port promises, before it is stored.
func checkVectors(vectors [][]float32, texts, dimension int) error {
	failure := func(format string, args ...any) error {
		return &model.Error{
			Err: fmt.Errorf(format, args...), Kind: model.KindInvalidReply, Operation: "embed", Provider: "embedder",
		}
	}
	if len(vectors) != texts {
		return failure("%d vectors for %d texts", len(vectors), texts)
	}
	for _, v := range vectors {
		switch len(v) {
		case dimension:
		case 0:
			return failure("a vector of 0 dimensions instead of %d", dimension)
		default:
			return failure("a vector of %d dimensions instead of %d: %w", len(v), dimension, model.ErrDimension)
		}
	}
	return nil
}

// rowKeys gives the keys of rows, column by column: an id is unique within its tenant only.
func rowKeys(rows []*queuedRow) (ids []uuid.UUID, userIDs, appNames []string) {
	for _, r := range rows {
		ids = append(ids, r.RowID)
		userIDs = append(userIDs, r.UserID)
		appNames = append(appNames, r.AppName)
	}
	return ids, userIDs, appNames
}
