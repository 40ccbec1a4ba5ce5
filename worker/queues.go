package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"github.com/hippocampus-memory/hippocampus/db"
)

// The queues that all workers share. The SQL functions that enqueue know them by name. Each generation of embeddings
// has one of its own beside these, see embedQueue, which workers with its model take from.
const (
	queueConsolidation = "consolidation"
	queueMaintenance   = "maintenance"
	queueSleep         = "sleep"
	queueSweep         = "sweep"
)

// maintenanceWorkers are as many as there are kinds in the queue, of each of which one job works at a time: so that none
// waits for one that takes hours.
const maintenanceWorkers = 6

// sleepWorkers is how many users' memories are put in order at once.
const sleepWorkers = 2

// sharedQueues are the queues that all workers share.
func (c *Config) sharedQueues() map[string]river.QueueConfig {
	return map[string]river.QueueConfig{
		queueConsolidation: {MaxWorkers: c.ConsolidationWorkers},
		queueMaintenance:   {MaxWorkers: maintenanceWorkers},
		queueSleep:         {MaxWorkers: sleepWorkers},
		queueSweep:         {MaxWorkers: c.SweepWorkers},
	}
}

// leaveShared leaves the shared queues to others: before the start, until join takes them.
func (w *Worker) leaveShared(ctx context.Context) error {
	for name := range w.config.sharedQueues() {
		if err := w.client.Queues().Remove(ctx, name); err != nil && !errors.As(err, new(*river.QueueNotFoundError)) {
			return fmt.Errorf("leave the queue %s: %w", name, err)
		}
	}
	return nil
}

// join takes part in embedding the generations of this worker's model. From when one of them is whole, it takes all
// other jobs, too: before, facts could not be compared by its vectors, nor anchors be listed.
func (w *Worker) join(ctx context.Context) error {
	embedder := w.config.Models.Embedder
	found, whole, err := db.EmbedderGenerations(ctx, w.pool, embedder.Name(), embedder.Dimension())
	if err != nil {
		return err
	}
	if err := w.take(ctx, found, whole); err != nil {
		return err
	}
	return w.loadPauses(ctx, w.takenQueues())
}

// take takes from the queues of generations and, where one of them is whole, from those that all workers share.
func (w *Worker) take(ctx context.Context, found []int32, whole bool) error {
	w.taken.Lock()
	defer w.taken.Unlock()
	for _, g := range found {
		if slices.Contains(w.taken.generations, g) {
			continue
		}
		if err := w.client.Queues().Add(embedQueue(g), river.QueueConfig{MaxWorkers: w.config.SweepWorkers}); err != nil {
			return fmt.Errorf("join the queue of generation %d: %w", g, err)
		}
		w.taken.generations = append(w.taken.generations, g)
	}
	if w.taken.shared || w.config.EmbedOnly {
		return nil
	}
	if !whole {
		w.logger.DebugContext(ctx, "vectors of this model are still being made: embedding only, until they are", "embedder", w.config.Models.Embedder.Name())
		return nil
	}
	queues := w.config.sharedQueues()
	for _, name := range slices.Sorted(maps.Keys(queues)) {
		if err := w.client.Queues().Add(name, queues[name]); err != nil && !errors.As(err, new(*river.QueueAlreadyAddedError)) {
			return fmt.Errorf("join the queue %s: %w", name, err)
		}
	}
	w.taken.shared = true
	return nil
}

// keepJoining joins generations of the same model that are begun while the worker runs.
func (w *Worker) keepJoining() {
	ticker := time.NewTicker(w.config.SweepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-w.client.Stopped():
			return
		case <-ticker.C:
		}
		ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
		err := w.join(ctx)
		switch {
		case err == nil:
			w.dropped.Store(false)
		case errors.Is(err, db.ErrEmbeddingModel) || errors.Is(err, db.ErrDimension):
			w.setDropped(ctx, err)
		case w.ctx.Err() == nil:
			w.logger.WarnContext(ctx, "can't look for generations of embeddings; will try again", "error", err)
		}
		cancel()
	}
}

// joined is which generations this worker embeds.
func (w *Worker) joined() []int32 {
	w.taken.Lock()
	defer w.taken.Unlock()
	return slices.Clone(w.taken.generations)
}

// takenQueues are the queues that this worker takes from.
func (w *Worker) takenQueues() []string {
	w.taken.Lock()
	defer w.taken.Unlock()
	var names []string
	for _, g := range w.taken.generations {
		names = append(names, embedQueue(g))
	}
	if w.taken.shared {
		names = slices.AppendSeq(names, maps.Keys(w.config.sharedQueues()))
	}
	return names
}

// takesShared is whether this worker takes from the queues that all share.
func (w *Worker) takesShared() bool {
	w.taken.Lock()
	defer w.taken.Unlock()
	return w.taken.shared
}
