package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/truth"
	"github.com/hippocampus-memory/hippocampus/model"
)

// The types of a consolidation.
const (
	FastReplay        = db.JobFastReplay        // a summary, and episodes
	DeepReflection    = db.JobDeepReflection    // facts and insights
	FullConsolidation = db.JobFullConsolidation // both
)

const (
	consolidateAttempts  = 8
	consolidateRetryBase = 2 * time.Second
	consolidateRetryMax  = 10 * time.Minute
)

// ConsolidateArgs asks for the consolidation of what a thread has that is new. Its record in
// consolidation_jobs is made by the database, whoever inserts the job.
type ConsolidateArgs struct {
	ThreadID uuid.UUID `json:"thread_id"`
	JobType  string    `json:"job_type"`
}

// Kind is the name of the kind.
func (ConsolidateArgs) Kind() string { return "consolidate" }

// InsertOpts are what enqueue_consolidation gives the job, too.
func (ConsolidateArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: consolidateAttempts, Queue: queueConsolidation}
}

type consolidateWorker struct {
	river.WorkerDefaults[ConsolidateArgs]
	*Worker
}

// NextRetry is when a failed attempt is repeated: after about 2 s, 6 s, 18 s, … 8 minutes, so about
// a quarter of an hour in all.
func (w *consolidateWorker) NextRetry(job *river.Job[ConsolidateArgs]) time.Time {
	return time.Now().Add(backoff(job.Attempt, consolidateRetryBase, consolidateRetryMax))
}

// Timeout is the time limit of an attempt.
func (w *consolidateWorker) Timeout(*river.Job[ConsolidateArgs]) time.Duration {
	return w.config.ConsolidateTimeout
}

// Work consolidates. Each piece of the conversation is read, thought about without a connection,
// and stored in one transaction, in which the thread's watermarks move; the last one's completes
// the job, too.
func (w *consolidateWorker) Work(ctx context.Context, job *river.Job[ConsolidateArgs]) error {
	record, err := w.queries.JobGetByRiverJob(ctx, w.pool, job.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		// The thread was forgotten, and its records with it.
		w.logger.InfoContext(ctx, "nothing to consolidate: the thread is gone", "job", job.ID, "thread", job.Args.ThreadID)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the job's record: %w", db.Wrap(err))
	}
	c := &consolidation{
		Worker: w.Worker,
		fast:   record.JobType != DeepReflection,
		deep:   record.JobType != FastReplay,
		job:    job,
		record: record,
		// What was enqueued while this one waited for its time counts on it: see _hold_river_job.
		waited: job.ScheduledAt.After(job.CreatedAt),
	}
	if err := json.Unmarshal(record.Result, &c.result); err != nil {
		return fmt.Errorf("read the result so far: %w", err)
	}
	err = c.run(ctx)
	if err == nil {
		c.told(ctx)
	}
	return w.settle(ctx, job, record, err)
}

// told tells of a consolidation that has ended well: what was made, in numbers.
func (c *consolidation) told(ctx context.Context) {
	r := &c.result
	c.finished.Add(1)
	c.logger.InfoContext(ctx, "a conversation was consolidated", "thread", c.record.ThreadID, "job", c.job.ID,
		"type", c.record.JobType, "events", r.Events, "summaries", r.Summaries, "episodes", r.Episodes, "facts", r.Facts,
		"insights", r.Insights, "without_embedding", r.WithoutEmbedding, "ms", time.Since(c.started).Milliseconds())
}

// settle says what becomes of the job after an error.
func (w *consolidateWorker) settle(
	ctx context.Context, job *river.Job[ConsolidateArgs], record *db.ConsolidationJob, err error,
) error {
	var failure *model.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errThreadGone):
		w.logger.InfoContext(ctx, "the thread was forgotten during its consolidation", "job", job.ID, "thread", record.ThreadID)
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("stopped at the time limit of %s: %w", w.config.ConsolidateTimeout, err)
	case ctx.Err() != nil: // cancelled, or this process stops: River knows which
		return err
	case !errors.As(err, &failure):
		return err
	}
	if failure.RawReply != "" {
		reply := model.BoundReply(failure.RawReply)
		saveErr := w.queries.JobSetRawReply(ctx, w.pool, &db.JobSetRawReplyParams{ID: record.ID, RawReply: &reply})
		if saveErr != nil {
			return errors.Join(err, fmt.Errorf("keep the reply: %w", db.Wrap(saveErr)))
		}
	}
	if errors.As(err, new(*paidError)) { // another attempt pays again, so it must be one of few
		return err
	}
	if wait, limited := rateLimit(err, snoozes(job.Metadata)+1); limited {
		wait = max(wait, backoff(snoozes(job.Metadata)+1, rateLimitBase, rateLimitMax))
		w.logger.InfoContext(ctx, "the provider asks for patience", "job", job.ID, "wait", wait.Round(time.Millisecond).String(), "error", err)
		w.note(ctx, record.ID, err)
		return w.snooze(job.Kind, wait)
	}
	return err
}

// note writes down why a job waits, which River doesn't.
func (w *consolidateWorker) note(ctx context.Context, id uuid.UUID, reason error) {
	err := w.queries.JobSetError(ctx, w.pool, &db.JobSetErrorParams{Error: model.CleanText(reason.Error()), ID: id})
	if err != nil {
		w.logger.WarnContext(ctx, "can't write down why a job waits", "record", id, "error", err)
	}
}

// snoozes is how often a job was put off.
func snoozes(metadata []byte) int {
	var m struct {
		Snoozes int `json:"snoozes"`
	}
	_ = json.Unmarshal(metadata, &m) // River wrote it
	return m.Snoozes
}

var (
	errThreadGone = errors.New("the thread is gone")
	// errMoved is that another job consolidated the same events meanwhile.
	errMoved = errors.New("the watermark has moved")
)

// paidError is a failure after which something is thrown away that models were paid for.
type paidError struct{ err error }

func (e *paidError) Error() string { return e.err.Error() }
func (e *paidError) Unwrap() error { return e.err }

// consolidation is one attempt at a consolidation.
type consolidation struct {
	*Worker
	fast, deep bool
	job        *river.Job[ConsolidateArgs]
	record     *db.ConsolidationJob
	result     Result
	started    time.Time
	// target is the last event that there was when the attempt began: what is appended later is
	// somebody else's to consolidate, unless the job waited.
	target int64
	waited bool
	judge  *truth.Judge // of the facts of a piece
}

// until is when an attempt stops waiting and beginning: the rest of its time is for storing what it learned.
func (c *consolidation) until() time.Time { return c.started.Add(c.config.ConsolidateTimeout * 2 / 3) }

// run consolidates piece after piece until all is done.
func (c *consolidation) run(ctx context.Context) error {
	c.started = time.Now()
	for first := true; ; first = false {
		thread, err := c.queries.ThreadGet(ctx, c.pool, c.record.ThreadID)
		if errors.Is(err, pgx.ErrNoRows) {
			return errThreadGone
		}
		if err != nil {
			return fmt.Errorf("read the thread: %w", db.Wrap(err))
		}
		if first {
			c.target = thread.NextSeq - 1
		}
		if !first && time.Now().After(c.until()) {
			c.logger.InfoContext(ctx, "a long conversation: goes on in another attempt", "job", c.job.ID, "thread", thread.ID)
			return river.JobSnooze(0)
		}
		p, err := c.read(ctx, thread)
		if err != nil {
			return err
		}
		done, err := c.step(ctx, p)
		if errors.Is(err, errMoved) {
			c.logger.InfoContext(ctx, "another job consolidated these events; looking again", "job", c.job.ID, "thread", thread.ID)
			continue
		}
		if done || err != nil {
			return err
		}
	}
}

// step thinks about a piece and stores it. If a part of it fails, the other is stored.
func (c *consolidation) step(ctx context.Context, p *piece) (done bool, err error) {
	learned, thinkErr := c.think(ctx, p)
	if thinkErr != nil && (learned == nil || ctx.Err() != nil) {
		return false, thinkErr
	}
	if err := c.embed(ctx, learned); err != nil {
		return false, errors.Join(thinkErr, err)
	}
	if err := c.compare(ctx, p, learned); err != nil {
		return false, errors.Join(thinkErr, err)
	}
	done, err = c.store(ctx, p, learned, thinkErr == nil)
	if thinkErr != nil && err != nil {
		c.logger.WarnContext(ctx, "the half of a consolidation that succeeded could not be stored", "job", c.job.ID, "error", err)
	}
	if thinkErr != nil {
		return false, thinkErr
	}
	return done, err
}

// Result is what consolidation_jobs.result says of a consolidation: what was made, and by whom. It
// holds no content.
type Result struct {
	// Message says why nothing was made.
	Message string `json:"message,omitempty"`
	// Events is how many were read.
	Events int `json:"events,omitempty"`
	// Pieces is how many pieces they were read in.
	Pieces int `json:"pieces,omitempty"`
	// EpisodeIDs, FactIDs, InsightIDs and SummaryIDs are the rows, at most maxResultIDs of each; the
	// counts are of all. memory_sources has every row.
	EpisodeIDs []uuid.UUID `json:"episode_ids,omitempty"`
	Episodes   int         `json:"episodes,omitempty"`
	FactIDs    []uuid.UUID `json:"fact_ids,omitempty"`
	Facts      int         `json:"facts,omitempty"`
	InsightIDs []uuid.UUID `json:"insight_ids,omitempty"`
	Insights   int         `json:"insights,omitempty"`
	SummaryIDs []uuid.UUID `json:"summary_ids,omitempty"`
	Summaries  int         `json:"summaries,omitempty"`
	// WithoutEmbedding is how many of the rows were stored without a vector, as the embedder failed.
	WithoutEmbedding int `json:"without_embedding,omitempty"`
	// Unjudged is of how many pieces the classifier did not read the facts, or not all, as it failed: the rules
	// decided alone.
	Unjudged int `json:"unjudged,omitempty"`
	// Kept is how many of the events are in episodes.
	Kept int `json:"kept,omitempty"`
	// Models are who made it: "summarizer", "reflector", "embedder".
	Models map[string]string `json:"models,omitempty"`
	// Repaired is how many replies were not clean and had to be mended.
	Repaired int `json:"repaired,omitempty"`
	// Usage is what the calls cost, in tokens, as the providers counted them.
	Usage Usage `json:"usage,omitzero"`
}

// Usage is model.Usage as JSON has it.
type Usage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
}

const maxResultIDs = 200

func (u *Usage) add(v model.Usage) {
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
}

func (r *Result) setModel(role, name string) {
	if name == "" {
		return
	}
	if r.Models == nil {
		r.Models = map[string]string{}
	}
	r.Models[role] = name
}

func appendIDs(ids []uuid.UUID, id uuid.UUID) []uuid.UUID {
	if len(ids) >= maxResultIDs {
		return ids
	}
	return append(ids, id)
}

// line is how an event reads, as in a context window.
func line(author, text string) string { return author + ": " + text }

// isBlank is whether a text says nothing.
func isBlank(text string) bool { return strings.TrimSpace(text) == "" }
