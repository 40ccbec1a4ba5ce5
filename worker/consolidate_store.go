package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pgvector/pgvector-go"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/truth"
)

const (
	storeLockTimeout = 10 * time.Second
	storeRetryWait   = time.Second
	storeTries       = 10
)

// store writes what was learned in one transaction: rows, provenance, watermarks, and the job's end
// if this is its last piece. A transaction that lost against another one, or that waited too long
// for a client's, is tried again: the model's work is not thrown away for that.
func (c *consolidation) store(ctx context.Context, p *piece, l *learned, mayComplete bool) (done bool, err error) {
	for try := 1; ; try++ {
		begun := time.Now()
		if done, err = c.storeOnce(ctx, p, l, mayComplete); err == nil {
			c.wrote(time.Since(begun))
			c.foldWritten(ctx, p)
		}
		var open *undecidedError
		if errors.As(err, &open) { // one that is like it came up meanwhile: read both, and store again
			if err = c.judge.Again(ctx, []*truth.Statement{open.statement}, []*db.FactOutcome{open.outcome}); err != nil {
				break
			}
			continue
		}
		if c.isOutlived(ctx, err) && l.dropVectors() {
			continue
		}
		err = db.Wrap(err)
		var pgErr *pgconn.PgError
		// lock_not_available, or a foreign_key_violation: what it repeats was just forgotten
		late := errors.As(err, &pgErr) && (pgErr.Code == "55P03" || pgErr.Code == "23503")
		if err == nil || try == storeTries || !late && !errors.Is(err, db.ErrConflict) {
			break
		}
		c.logger.InfoContext(ctx, "a consolidation could not be stored yet", "job", c.job.ID, "error", err)
		select {
		case <-ctx.Done():
			return false, errors.Join(ctx.Err(), err)
		case <-time.After(jitter(storeRetryWait)):
		}
	}
	if err != nil && !errors.Is(err, errMoved) && !errors.Is(err, errThreadGone) {
		return false, fmt.Errorf("store the consolidation: %w", err)
	}
	return done, err
}

func (c *consolidation) storeOnce(ctx context.Context, p *piece, l *learned, mayComplete bool) (done bool, err error) {
	result := c.result
	err = c.inModel(ctx, func(tx pgx.Tx) error { // facts are compared
		_, err := tx.Exec(ctx, "SELECT set_config('lock_timeout', $1, true), set_config('hippocampus.fold_later', 'on', true)",
			fmt.Sprintf("%dms", storeLockTimeout.Milliseconds()))
		if err != nil {
			return err
		}
		thread, err := c.queries.ThreadLock(ctx, tx, p.thread.ID)
		if errors.Is(err, pgx.ErrNoRows) {
			return errThreadGone
		}
		if err != nil {
			return err
		}
		if l.replayed && thread.ReplayedSeq != p.fast.after || l.reflected && thread.ReflectedSeq != p.deep.after {
			return errMoved
		}
		if thread.Forgettings != p.thread.Forgettings {
			return errMoved // what was thought about may tell what is forgotten since
		}
		reached := p.thread.NextSeq - 1 // of a piece without events: whoever consolidated them, none is left
		if !p.empty() {
			reached = p.to()
			if err := c.write(ctx, tx, p, l, &result); err != nil {
				return err
			}
		} else {
			if result.Events == 0 {
				result.Message = "No events to consolidate"
			}
			if err := c.passOver(ctx, tx, p.thread.ID, reached); err != nil {
				return err
			}
		}
		// Under the thread's lock, next_seq tells of all that any committed transaction appended.
		done = mayComplete && reached >= c.target && (!c.waited || reached >= thread.NextSeq-1)
		if done {
			// River's row before the record, as everybody does who moves both.
			if err := c.complete(ctx, tx); err != nil {
				return err
			}
		}
		if err := c.dropForgotten(ctx, tx, &result); err != nil {
			return err
		}
		return c.writeResult(ctx, tx, p, &result)
	})
	if err != nil {
		return false, err
	}
	c.result = result
	if !p.empty() && c.record.FromSeq == nil {
		from := p.from()
		c.record.FromSeq = &from
	}
	c.metrics.stored(l)
	return done, nil
}

// foldWritten folds what was written into the index of words. It is found without that, a little slower, and who writes
// next folds it too; so no error of it is the consolidation's. In a transaction of its own: that of the consolidation holds
// up who appends to the thread.
func (c *consolidation) foldWritten(ctx context.Context, p *piece) {
	_, err := c.queries.TermFold(ctx, c.pool, &db.TermFoldParams{
		AppName: p.thread.AppName, MinRows: foldRowsAfter, UserID: p.thread.UserID,
	})
	if err != nil {
		c.logger.WarnContext(ctx, "can't fold what was written into the index of words yet", "thread", p.thread.ID, "error", db.Wrap(err))
	}
}

// complete ends River's job.
func (c *consolidation) complete(ctx context.Context, tx pgx.Tx) error {
	ended, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, c.job)
	if err != nil {
		return fmt.Errorf("complete the job: %w", err)
	}
	// It may have been given up for dead while it worked. If it is to be tried again, the watermark
	// keeps that attempt from doubling anything; if it has ended otherwise, nothing is stored.
	if ended.State == rivertype.JobStateCancelled || ended.State == rivertype.JobStateDiscarded {
		return fmt.Errorf("the job is %s by now", ended.State)
	}
	return nil
}

// passOver moves the watermarks over events that nobody reads any more: all after them are forgotten. Else the
// thread would be due for ever.
func (c *consolidation) passOver(ctx context.Context, tx pgx.Tx, thread uuid.UUID, reached int64) error {
	marks := &db.ThreadSetWatermarksParams{ID: thread}
	if c.fast {
		marks.ReplayedSeq = reached
	}
	if c.deep {
		marks.ReflectedSeq = reached
	}
	if err := c.queries.ThreadSetWatermarks(ctx, tx, marks); err != nil {
		return fmt.Errorf("move the watermarks over what is forgotten: %w", err)
	}
	return nil
}

// write inserts the rows and moves the watermarks.
func (c *consolidation) write(ctx context.Context, tx pgx.Tx, p *piece, l *learned, result *Result) error {
	sources := &db.SourceCreateManyParams{
		AppName: p.thread.AppName, JobID: c.record.ID, ThreadID: p.thread.ID, UserID: p.thread.UserID,
	}
	type target struct {
		memoryID       uuid.UUID
		fromSeq, toSeq int64
	}
	seen := map[target]bool{}
	source := func(memoryID uuid.UUID, s span, model string) {
		t := target{memoryID: memoryID, fromSeq: s.fromSeq, toSeq: s.toSeq}
		if seen[t] { // the same said twice
			return
		}
		seen[t] = true
		sources.MemoryIds = append(sources.MemoryIds, memoryID)
		sources.FromSeqs = append(sources.FromSeqs, s.fromSeq)
		sources.ToSeqs = append(sources.ToSeqs, s.toSeq)
		sources.Models = append(sources.Models, model)
	}
	for i, f := range l.facts {
		var before *newFact
		if i > 0 && l.facts[i-1].Type == f.Type && l.facts[i-1].Key == f.Key {
			before = l.facts[i-1]
		}
		id, err := c.writeFact(ctx, tx, p, f, before, l.reflector)
		if err != nil {
			return fmt.Errorf("store a fact: %w", err)
		}
		result.FactIDs = appendIDs(result.FactIDs, id)
		result.Facts++
	}
	episodes, err := c.writeEpisodes(ctx, tx, p, l.episodes)
	if err != nil {
		return fmt.Errorf("store episodes: %w", err)
	}
	for i, m := range l.memories() {
		var id uuid.UUID
		if m.kind == episode { // they come first
			id = episodes[i]
		} else if id, err = c.writeMemory(ctx, tx, p, m); err != nil {
			return fmt.Errorf("store a memory: %w", err)
		}
		source(id, m.span, m.model)
		switch m.kind {
		case episode:
			result.EpisodeIDs = appendIDs(result.EpisodeIDs, id)
			result.Episodes++
		case insight:
			result.InsightIDs = appendIDs(result.InsightIDs, id)
			result.Insights++
		case summary:
			result.SummaryIDs = appendIDs(result.SummaryIDs, id)
			result.Summaries++
		}
	}
	if len(l.episodes) > 0 {
		_, err := c.queries.EventAdoptUses(ctx, tx, &db.EventAdoptUsesParams{
			AppName: p.thread.AppName, ThreadID: p.thread.ID, UserID: p.thread.UserID,
		})
		if err != nil {
			return fmt.Errorf("take over the uses of events: %w", err)
		}
	}
	if err := c.queries.SourceCreateMany(ctx, tx, sources); err != nil {
		return fmt.Errorf("store where it came from: %w", err)
	}
	marks := &db.ThreadSetWatermarksParams{ID: p.thread.ID}
	if l.replayed {
		marks.ReplayedSeq = p.fast.to
	}
	if l.reflected {
		marks.ReflectedSeq = p.deep.to
	}
	if err := c.queries.ThreadSetWatermarks(ctx, tx, marks); err != nil {
		return fmt.Errorf("move the watermarks: %w", err)
	}
	result.Message = ""
	result.Events += len(p.events)
	result.Kept += l.kept
	result.Pieces++
	result.WithoutEmbedding += l.withoutEmbedding
	if c.judge.GaveUp() {
		result.Unjudged++
	}
	result.Repaired += l.repaired
	result.Usage.add(l.usage)
	result.setModel("embedder", l.embedder)
	result.setModel("reflector", l.reflector)
	result.setModel("summarizer", l.summarizer)
	return nil
}

func (c *consolidation) writeMemory(ctx context.Context, tx pgx.Tx, p *piece, m *newMemory) (uuid.UUID, error) {
	tokens := int32(c.config.Counter.Count(m.content))
	params := &db.MemoryRememberParams{
		AppName: p.thread.AppName, Author: m.author, Category: m.category, Content: m.content, Importance: &m.score,
		InitialScore: m.initialScore, Intensity: 0.5, Metadata: json.RawMessage(`{}`), OccurredFrom: &m.from,
		OccurredUntil: &m.until, Tags: []string{}, ThreadID: &p.thread.ID, TokenCount: &tokens, UserID: p.thread.UserID,
	}
	params.Embedding, params.EmbeddingModel = c.vector(m.vector)
	if m.kind == insight {
		// Without a range of its own: the same insight from another conversation is the same memory.
		params.MemoryType, params.Source = "semantic", DeepReflection
		params.DrawnFrom, params.DrawnTo = &m.fromSeq, &m.toSeq // for its trust
	} else {
		params.FromSeq, params.ToSeq = &m.fromSeq, &m.toSeq
		params.MemoryType, params.Category, params.Source = "summary", "other", FastReplay
	}
	return c.queries.MemoryRemember(ctx, tx, params)
}

// writeFact states a fact. before is the one of the same key that was stated before it in the same
// conversation, reflector the model that drew it.
func (c *consolidation) writeFact(
	ctx context.Context, tx pgx.Tx, p *piece, f, before *newFact, reflector string,
) (uuid.UUID, error) {
	validFrom := f.from
	if f.ValidFrom != nil {
		validFrom = *f.ValidFrom
	}
	if before != nil && !validFrom.After(before.from) {
		validFrom = f.until // both were said again later: this one holds since then
	}
	if f.ValidFrom != nil {
		// What is stated holds now. A date before the present value's would put it into the past.
		current, err := c.queries.FactGetCurrent(ctx, tx, &db.FactGetCurrentParams{
			AppName: p.thread.AppName, FactType: f.Type, Key: f.Key, UserID: p.thread.UserID,
		})
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return uuid.Nil, err
		}
		if err == nil && validFrom.Before(current.ValidFrom) && current.ValidFrom.Before(f.until) {
			validFrom = f.until
		}
	}
	tokens := int32(c.config.Counter.Count(f.text))
	statement := f.statement
	statement.TokenCount, statement.ValidFrom = &tokens, &validFrom
	outcome, err := c.rememberFact(ctx, tx, p, &statement, reflector, c.judge.Undecided(), false)
	if err != nil {
		return uuid.Nil, err
	}
	if truth.HasUndecided(outcome) {
		return uuid.Nil, &undecidedError{statement: &f.statement, outcome: outcome}
	}
	return *outcome.FactID, nil
}

// rememberFact states a fact, or, in a dry run, asks what it would be to those that are there.
func (c *consolidation) rememberFact(
	ctx context.Context, conn db.DBTX, p *piece, statement *truth.Statement, reflector, undecided string, dryRun bool,
) (*db.FactOutcome, error) {
	raw, err := json.Marshal([]*truth.Statement{statement})
	if err != nil {
		return nil, fmt.Errorf("write a fact: %w", err)
	}
	params := &db.FactRememberParams{
		AppName: p.thread.AppName, DryRun: dryRun, Facts: raw, JobID: &c.record.ID, Model: &reflector, ThreadID: &p.thread.ID,
		Undecided: undecided, UserID: p.thread.UserID,
	}
	if statement.Embedding != nil {
		params.EmbeddingModel = new(c.config.Models.Embedder.Name())
	}
	outcomes, err := c.queries.FactRemember(ctx, conn, params)
	if err != nil {
		return nil, err
	}
	return outcomes[0], nil
}

func (w *Worker) vector(values []float32) (*pgvector.Vector, *string) {
	if values == nil {
		return nil, nil
	}
	v := pgvector.NewVector(values)
	name := w.config.Models.Embedder.Name()
	return &v, &name
}

// dropForgotten takes out of a result what forgetting has taken out of the one that is written down, since it was read:
// pieces before this one made it. The record is held, so that who forgets by now finds in it what this piece adds.
func (c *consolidation) dropForgotten(ctx context.Context, tx pgx.Tx, result *Result) error {
	raw, err := c.queries.JobLockResult(ctx, tx, c.record.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return errThreadGone
	}
	if err != nil {
		return fmt.Errorf("read the result so far: %w", err)
	}
	var written Result
	if err := json.Unmarshal(raw, &written); err != nil {
		return fmt.Errorf("read the result so far: %w", err)
	}
	kept := func(ids, before, now []uuid.UUID) []uuid.UUID {
		return slices.DeleteFunc(slices.Clone(ids), func(id uuid.UUID) bool {
			return slices.Contains(before, id) && !slices.Contains(now, id)
		})
	}
	result.EpisodeIDs = kept(result.EpisodeIDs, c.result.EpisodeIDs, written.EpisodeIDs)
	result.FactIDs = kept(result.FactIDs, c.result.FactIDs, written.FactIDs)
	result.InsightIDs = kept(result.InsightIDs, c.result.InsightIDs, written.InsightIDs)
	result.SummaryIDs = kept(result.SummaryIDs, c.result.SummaryIDs, written.SummaryIDs)
	return nil
}

// writeResult writes down what was made so far.
func (c *consolidation) writeResult(ctx context.Context, tx pgx.Tx, p *piece, result *Result) error {
	text, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	params := &db.JobSetResultParams{FromSeq: c.record.FromSeq, ID: c.record.ID, Result: text, ToSeq: c.record.ToSeq}
	if !p.empty() {
		from, to := p.from(), p.to()
		if params.FromSeq == nil {
			params.FromSeq = &from
		}
		params.ToSeq = &to
	}
	if err := c.queries.JobSetResult(ctx, tx, params); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}
