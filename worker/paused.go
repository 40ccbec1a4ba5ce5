package worker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/hippocampus-memory/hippocampus/db"
)

// pausedQueues are the queues of this process from which River takes no jobs. Whoever may connect may
// notify, River's control channel too, so a queue may be paused without a row that says so.
type pausedQueues struct {
	mu    sync.Mutex
	names map[string]bool // whether each is paused
}

func (p *pausedQueues) set(queue string, paused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.names == nil {
		p.names = map[string]bool{}
	}
	p.names[queue] = paused
}

// setFirst is set, for a queue of which nothing was heard yet.
func (p *pausedQueues) setFirst(queue string, paused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.names == nil {
		p.names = map[string]bool{}
	}
	if _, heard := p.names[queue]; !heard {
		p.names[queue] = paused
	}
}

// all are the queues that were heard of, and whether each is paused.
func (p *pausedQueues) all() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.names)
}

// followPauses keeps w.paused until the worker has stopped. The channel is subscribed to before the start.
func (w *Worker) followPauses(ctx context.Context, events <-chan *river.Event) {
	for event := range events {
		if event.Queue == nil {
			continue
		}
		paused := event.Kind == river.EventKindQueuePaused
		w.paused.set(event.Queue.Name, paused)
		if paused {
			w.logger.WarnContext(ctx, "a queue was paused: its jobs wait until it is resumed", "queue", event.Queue.Name)
		} else {
			w.logger.InfoContext(ctx, "a queue was resumed", "queue", event.Queue.Name)
		}
	}
}

// loadPauses takes over, of the queues of which nothing was heard yet, those that were paused before the worker took them.
func (w *Worker) loadPauses(ctx context.Context, taken []string) error {
	heard := w.paused.all()
	taken = slices.DeleteFunc(taken, func(name string) bool { _, is := heard[name]; return is })
	if len(taken) == 0 {
		return nil
	}
	rows, err := w.pool.Query(ctx, "SELECT q.name FROM hippocampus.river_queue q WHERE q.paused_at IS NOT NULL AND q.name = ANY ($1)", taken)
	if err != nil {
		return fmt.Errorf("look for paused queues: %w", db.Wrap(err))
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look for paused queues: %w", db.Wrap(err))
	}
	for _, name := range taken {
		w.paused.setFirst(name, slices.Contains(names, name))
	}
	return nil
}

// errPaused says which queues are paused, and what to do about it.
func (w *Worker) errPaused() error {
	queues := w.paused.all()
	maps.DeleteFunc(queues, func(_ string, paused bool) bool { return !paused })
	if len(queues) == 0 {
		return nil
	}
	return fmt.Errorf("paused, so that jobs wait: %s; to resume all: UPDATE hippocampus.river_queue SET paused_at = NULL; "+
		`SELECT pg_notify('hippocampus.river_control', '{"action": "resume", "queue": "*"}')`, strings.Join(slices.Sorted(maps.Keys(queues)), ", "))
}
