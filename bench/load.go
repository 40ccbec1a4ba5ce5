package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// LoadOptions are the options of [Load].
type LoadOptions struct {
	// Batch is how many events a writer appends in one call, 1 at least.
	Batch int
	// Duration is how long clients read and write.
	Duration time.Duration
	// JobEvery is after how many events a writer asks for a consolidation.
	JobEvery int
	// Rate is how many events a second each writer appends; 0 is as many as it can. Under a rate that
	// the machine can bear, the time until a worker starts is that of being told, not of waiting for
	// other jobs.
	Rate float64
	// Readers and Writers are clients, Workers are workers in this process.
	Readers, Workers, Writers int
	// Seed makes the texts, where there are none.
	Seed uint64
	// Texts are what writers say, each from a place of its own on, round and round.
	Texts []string `json:"-"`
}

// LoadResults are the numbers of a load run.
type LoadResults struct {
	Options   *LoadOptions `json:"options"`
	Seconds   float64      `json:"seconds"`
	Events    int          `json:"events"`
	EventRate float64      `json:"events_per_second"`
	Searches  int          `json:"searches"`
	// SearchRate is searches a second.
	SearchRate float64 `json:"searches_per_second"`
	Append     Latency `json:"append"`
	Enqueue    Latency `json:"enqueue"`
	Search     Latency `json:"search"`
	// Pickup is from the commit of a job to its start, Done to its end.
	Pickup Latency `json:"pickup"`
	Done   Latency `json:"done"`
	// Jobs are those that were asked for; Waiting are those of them that had not ended when the
	// clients stopped.
	Jobs    int            `json:"jobs"`
	Failed  int            `json:"jobs_failed"`
	Waiting int            `json:"jobs_waiting"`
	Errors  map[string]int `json:"errors"`
}

// loadApp is the app under which load runs write.
const loadApp = "bench-load"

// Load has clients read and write at once, beside workers. If the context ends before the duration,
// what was measured until then is returned with the error.
func Load(ctx context.Context, e *Engine, opts *LoadOptions) (*LoadResults, error) {
	if opts.Batch < 1 {
		return &LoadResults{Options: opts}, fmt.Errorf("a writer appends %d events in one call; give 1 at least", opts.Batch)
	}
	l := &load{Engine: e, jobs: map[uuid.UUID]time.Time{}, opts: opts, results: &LoadResults{Errors: map[string]int{}, Options: opts}}
	l.space = newSpace(opts.Seed, 1)
	var err error
	if l.service, err = e.NewService(&service.Config{Embedder: e.Embedder}); err != nil {
		return l.results, err
	}
	if l.ahead, err = l.clock(ctx); err != nil {
		return l.results, err
	}
	err = l.beside(ctx, opts.Workers, func() error { return l.run(ctx) })
	return l.results, err
}

// load is a run. What clients measure they add under the lock.
type load struct {
	*Engine
	ahead   time.Duration // of the database's clock
	opts    *LoadOptions
	results *LoadResults
	service *service.OpenMemoryService
	space   *space

	lock                      sync.Mutex
	appends, enqueues, search []time.Duration
	jobs                      map[uuid.UUID]time.Time // job → when its commit was known
	users                     []string                // those who have memories to be searched, or soon will
}

// beside runs fn beside a number of workers.
func (l *load) beside(ctx context.Context, workers int, fn func() error) error {
	if workers <= 0 {
		return fn()
	}
	return l.WithWorker(ctx, func(*worker.Worker) error { return l.beside(ctx, workers-1, fn) })
}

// run lets the clients go for the duration, waits for the jobs that are left, and reads what became
// of them.
func (l *load) run(ctx context.Context) error {
	start := time.Now()
	err := l.clients(ctx)
	l.results.Seconds = time.Since(start).Seconds()
	l.lock.Lock()
	defer l.lock.Unlock()
	r := l.results
	r.Append, r.Enqueue, r.Search = latency(l.appends), latency(l.enqueues), latency(l.search)
	r.Events, r.Searches, r.Jobs = l.opts.Batch*len(l.appends), len(l.search), len(l.jobs)
	r.EventRate, r.SearchRate = float64(r.Events)/r.Seconds, float64(r.Searches)/r.Seconds
	// What was measured is reported, even if the run was stopped.
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTimeout)
	defer cancel()
	waiting, waitErr := l.unfinished(after)
	r.Waiting = waiting
	if err == nil && l.opts.Workers > 0 {
		err = l.drain(ctx)
	}
	return errors.Join(err, waitErr, l.readJobs(after))
}

// clock is by how much the database's clock is ahead of ours: jobs are started by its clock, and
// committed by ours.
func (l *load) clock(ctx context.Context) (time.Duration, error) {
	var ahead, best time.Duration
	for i := range 20 {
		var theirs time.Time
		asked := time.Now()
		if err := l.Pool.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&theirs); err != nil {
			return 0, fmt.Errorf("read the database's clock: %w", err)
		}
		if trip := time.Since(asked); i == 0 || trip < best {
			best, ahead = trip, theirs.Sub(asked.Add(trip/2))
		}
	}
	return ahead, nil
}

func (l *load) ids() []uuid.UUID {
	ids := make([]uuid.UUID, 0, len(l.jobs))
	for id := range l.jobs {
		ids = append(ids, id)
	}
	return ids
}

func (l *load) unfinished(ctx context.Context) (n int, err error) {
	err = l.Pool.QueryRow(ctx, `SELECT count(*) FROM hippocampus.consolidation_jobs j
		WHERE j.id = ANY ($1) AND j.status IN ('pending', 'running')`, l.ids()).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count jobs: %w", err)
	}
	return n, nil
}

// drain waits for the jobs that are left.
func (l *load) drain(ctx context.Context) error {
	bar := l.Progress(l.results.Waiting, "finishing jobs")
	left := l.results.Waiting
	for left > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %d jobs: %w", left, ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
		now, err := l.unfinished(ctx)
		if err != nil {
			return err
		}
		bar.Add(left - now)
		left = now
	}
	bar.Finish()
	return nil
}

// readJobs reads when the jobs started and ended.
func (l *load) readJobs(ctx context.Context) error {
	rows, err := l.Pool.Query(ctx, `SELECT j.id, j.status, j.started_at, j.completed_at FROM hippocampus.consolidation_jobs j
		WHERE j.id = ANY ($1) AND j.started_at IS NOT NULL`, l.ids())
	if err != nil {
		return fmt.Errorf("read jobs: %w", err)
	}
	var (
		id             uuid.UUID
		status         string
		started        time.Time
		ended          *time.Time
		pickups, dones []time.Duration
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &status, &started, &ended}, func() error {
		committed := l.jobs[id].Add(l.ahead)
		// It may start before its client has heard of the commit.
		pickups = append(pickups, max(0, started.Sub(committed)))
		if status == "completed" && ended != nil {
			dones = append(dones, max(0, ended.Sub(committed)))
		}
		if status == "failed" {
			l.results.Failed++
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read jobs: %w", err)
	}
	l.results.Pickup, l.results.Done = latency(pickups), latency(dones)
	return nil
}
