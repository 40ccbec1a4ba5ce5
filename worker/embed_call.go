package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hippocampus-memory/hippocampus/model"
)

// errTooSlow is an embedder that did not embed several rows in the time of a call: fewer are tried next.
var errTooSlow = errors.New("the embedder is too slow for so many rows")

// errSlowRow is the same for a single row.
var errSlowRow = errors.New("the embedder is too slow for a row")

// callSize is how many rows one call of the embedder is given: EmbedBatch, until it was too slow for that.
func (w *Worker) callSize() int {
	if n := w.embedSize.Load(); n > 0 {
		return min(int(n), w.config.EmbedBatch)
	}
	return w.config.EmbedBatch
}

// call asks the embedder, for three quarters of the time that is left at most: the rest is for storing what it made. How
// many rows it manages is remembered by this process: half as many after a call that failed as it was too slow or
// the provider was overburdened, twice as many after one that took little of its time.
func (w *Worker) call(ctx context.Context, texts []string) ([][]float32, error) {
	limit := w.config.EmbedTimeout * 3 / 4
	if deadline, ok := ctx.Deadline(); ok {
		limit = time.Until(deadline) * 3 / 4
	}
	started := time.Now()
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	embedder := w.config.Models.Embedder
	vectors, err := embedder.Embed(limited, texts, model.TaskDocument)
	if err == nil {
		if len(texts) >= w.callSize() && time.Since(started) < limit/4 {
			w.embedSize.Store(int64(min(2*len(texts), w.config.EmbedBatch)))
		}
		return vectors, checkVectors(vectors, len(texts), embedder.Dimension())
	}
	if ctx.Err() != nil {
		return nil, err
	}
	slow := errors.Is(err, context.DeadlineExceeded)
	if limited.Err() != nil { // not the provider's own limit
		err = &model.Error{
			Err:  fmt.Errorf("no vectors of %d texts within %s", len(texts), limit.Round(time.Millisecond)),
			Kind: model.KindUnavailable, Operation: "embed", Provider: embedder.Name(),
		}
	}
	var failure *model.Error
	if !slow && (!errors.As(err, &failure) || failure.Kind != model.KindUnavailable) {
		return nil, err
	}
	w.embedSize.Store(int64(max(1, len(texts)/2)))
	switch {
	case !slow:
		return nil, err
	case len(texts) > 1:
		w.logger.WarnContext(ctx, "the embedder is slow; fewer rows at once from now on", "rows", len(texts), "next", w.callSize(), "error", err)
		return nil, fmt.Errorf("%w: %w", errTooSlow, err)
	default:
		return nil, fmt.Errorf("%w: %w", errSlowRow, err)
	}
}
