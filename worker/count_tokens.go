package worker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"

	"github.com/hippocampus-memory/hippocampus/db"
)

// countBatch is how many rows of each table are counted at once.
const countBatch = 100

// CountTokensArgs asks for exact token counts where there are estimates. Triggers enqueue it.
type CountTokensArgs struct {
	// Sweep marks the safety net, as in [EmbedArgs].
	Sweep bool `json:"sweep,omitempty"`
}

// Kind is the name of the kind.
func (CountTokensArgs) Kind() string { return "count_tokens" }

// InsertOpts are those of the triggers' jobs.
func (CountTokensArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: queueSweep} }

type countTokensWorker struct {
	river.WorkerDefaults[CountTokensArgs]
	*Worker
}

// Timeout is the time limit of a job.
func (w *countTokensWorker) Timeout(*river.Job[CountTokensArgs]) time.Duration {
	return w.config.CountTokensTimeout
}

// Work counts batch after batch until none is left, or its time is up. Rows that somebody holds are
// left for the next sweep.
func (w *countTokensWorker) Work(ctx context.Context, job *river.Job[CountTokensArgs]) error {
	started := time.Now()
	total := int64(0)
	for time.Since(started) < w.config.CountTokensTimeout/2 {
		rows, err := w.queries.TokenListUncounted(ctx, w.pool, countBatch)
		if err != nil {
			return w.stopped(ctx, fmt.Errorf("list rows to count: %w", db.Wrap(err)))
		}
		counted, err := w.count(ctx, rows)
		if err != nil {
			return w.stopped(ctx, err)
		}
		total += counted
		w.counted.Add(counted)
		if counted == 0 { // none is left, or somebody holds them all
			break
		}
	}
	if total > 0 {
		w.metrics.counted.Add(float64(total))
		w.logger.DebugContext(ctx, "tokens were counted", "job", job.ID, "rows", total)
	}
	return nil
}

// count counts rows and stores the counts; each table's in one statement. It gives how many it stored.
func (w *countTokensWorker) count(ctx context.Context, rows []*db.TokenListUncountedRow) (int64, error) {
	slices.SortFunc(rows, func(a, b *db.TokenListUncountedRow) int {
		return cmp.Or(cmp.Compare(a.AppName, b.AppName), cmp.Compare(a.UserID, b.UserID), cmp.Compare(a.Key, b.Key),
			cmp.Compare(a.Version, b.Version))
	})
	type batch struct {
		ids               []uuid.UUID
		userIDs, appNames []string
		counts            []int32
	}
	batches := map[string]*batch{"event": {}, "fact": {}, "memory": {}}
	counted := int64(0)
	for _, r := range rows {
		if err := ctx.Err(); err != nil {
			return counted, fmt.Errorf("count tokens: %w", err)
		}
		tokens := int32(w.config.Counter.Count(r.Text))
		var (
			err error
			n   int64
		)
		switch r.Source {
		case "block":
			n, err = w.queries.TokenSetBlock(ctx, w.pool, &db.TokenSetBlockParams{
				AppName: r.AppName, Key: r.Key, TokenCount: tokens, UserID: r.UserID, Version: r.Version,
			})
		case "instruction":
			n, err = w.queries.TokenSetInstruction(ctx, w.pool, &db.TokenSetInstructionParams{
				AppName: r.AppName, Key: r.Key, TokenCount: tokens, Version: int32(r.Version),
			})
		default:
			b := batches[r.Source]
			b.ids = append(b.ids, r.ID)
			b.userIDs = append(b.userIDs, r.UserID)
			b.appNames = append(b.appNames, r.AppName)
			b.counts = append(b.counts, tokens)
		}
		if err != nil {
			return counted, fmt.Errorf("store token counts: %w", db.Wrap(err))
		}
		counted += n
	}
	for source, set := range map[string]func(*batch) (int64, error){
		"event": func(b *batch) (int64, error) {
			return w.queries.TokenSetEvents(ctx, w.pool, &db.TokenSetEventsParams{
				AppNames: b.appNames, Ids: b.ids, TokenCounts: b.counts, UserIds: b.userIDs,
			})
		},
		"fact": func(b *batch) (int64, error) {
			return w.queries.TokenSetFacts(ctx, w.pool, &db.TokenSetFactsParams{
				AppNames: b.appNames, Ids: b.ids, TokenCounts: b.counts, UserIds: b.userIDs,
			})
		},
		"memory": func(b *batch) (int64, error) {
			return w.queries.TokenSetMemories(ctx, w.pool, &db.TokenSetMemoriesParams{
				AppNames: b.appNames, Ids: b.ids, TokenCounts: b.counts, UserIds: b.userIDs,
			})
		},
	} {
		if len(batches[source].ids) == 0 {
			continue
		}
		n, err := set(batches[source])
		if err != nil {
			return counted, fmt.Errorf("store token counts: %w", db.Wrap(err))
		}
		counted += n
	}
	return counted, nil
}
