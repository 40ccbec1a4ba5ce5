package bench

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hippocampus-memory/hippocampus/bench/dataset"
	"github.com/hippocampus-memory/hippocampus/service"
)

// searcher is a service with a clock of its own: each question is asked at a time of its own.
type searcher struct {
	now     atomic.Pointer[time.Time]
	service *service.OpenMemoryService
}

func newSearcher(e *Engine) (*searcher, error) {
	s := &searcher{}
	s.now.Store(&time.Time{})
	var err error
	s.service, err = e.NewService(&service.Config{Now: func() time.Time { return *s.now.Load() }})
	return s, err
}

// askAll has several clients call fn once for each of the dataset's questions, by its index. The
// client's clock is at the time at which the question is asked and, where that is unknown, at the end
// of its conversation. The first error ends it.
func askAll(
	ctx context.Context, e *Engine, d *dataset.Dataset, clients int, what string,
	fn func(ctx context.Context, s *searcher, i int) error,
) error {
	bar := e.Progress(len(d.Questions), what)
	ends := d.Ends()
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range max(1, clients) {
		group.Go(func() error {
			s, err := newSearcher(e)
			if err != nil {
				return err
			}
			for {
				i := int(next.Add(1) - 1)
				if i >= len(d.Questions) {
					return nil
				}
				q := d.Questions[i]
				at := q.Asked
				if at.IsZero() {
					at = ends[q.Conversation]
				}
				s.now.Store(&at)
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := fn(ctx, s, i); err != nil {
					return fmt.Errorf("question %s: %w", q.ID, err)
				}
				bar.Add(1)
			}
		})
	}
	err := group.Wait()
	bar.Finish()
	return err
}
