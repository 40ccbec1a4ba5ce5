package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// Filler is a process that fills a generation of embeddings.
type Filler interface {
	// Kill ends it at once, in the middle of whatever it does.
	Kill() error
	// Wait returns when it has ended: nil if the generation is whole.
	Wait() error
}

// ReembedOptions are the options of [Reembed].
type ReembedOptions struct {
	// Fill starts a process that fills a generation of Next.
	Fill func(ctx context.Context) (Filler, error)
	// KillAt is the share of the vectors, from 0 to 1, at which the first process is killed; 0 to leave it alone.
	KillAt float64
	// Next is the new model. The same one as the engine's Embedder must give the same results.
	Next model.Embedder
	// Queries is how many questions are compared before and after.
	Queries int
	// Readers and Writers are clients meanwhile. A writer remembers for a user of its own.
	Readers, Writers int
	// Rows is how many memories of Tenants there are.
	Rows, Tenants int
	// Seed makes the corpus and the questions.
	Seed uint64
	// Watch is how long readers are watched before the change, and after it.
	Watch time.Duration
}

// ReembedResults are the numbers of a re-embedding run.
type ReembedResults struct {
	App     string `json:"app"`
	Rows    int    `json:"rows"`
	Tenants int    `json:"tenants"`
	From    string `json:"from"` // the models
	To      string `json:"to"`
	// First is what it took to embed the corpus with the model that served, 0 if it was there.
	First float64 `json:"first_seconds"`
	Fill  float64 `json:"fill_seconds"`
	// KilledAt is how many vectors there were when the first process was killed.
	KilledAt int64   `json:"killed_at_vectors"`
	Switch   float64 `json:"switch_seconds"`
	Drop     float64 `json:"drop_seconds"`
	// Before, During and After are searches of the readers, about the change; after, with the new model.
	Before Latency `json:"before"`
	During Latency `json:"during"`
	After  Latency `json:"after"`
	// Failed, Degraded and Empty are searches that gave an error, went without vectors, or found nothing.
	Failed   int64 `json:"failed_searches"`
	Degraded int64 `json:"degraded_searches"`
	Empty    int64 `json:"empty_searches"`
	Written  int64 `json:"written"`
	// Lacking are rows written before the process that filled ended, without a vector of the new model. Later ones
	// wait for a worker of the new model, which this run has none of.
	Lacking int64 `json:"lacking_vectors"`
	// Same is how many of the compared questions gave the same memories, in the same order and with the same
	// scores, before and after; Shared the share of their memories that both gave.
	Compared int     `json:"compared"`
	Same     int     `json:"same"`
	Shared   float64 `json:"shared"`
}

// lookTime is more than what passes between two looks of the process that fills at how far it is.
const lookTime = 6 * time.Second

// lookPoll is how often a run looks how far the embedding is, while it measures searches: by what is cheap to read.
const lookPoll = 250 * time.Millisecond

// writePause is between two writes of a writer: it is there to be seen, not to fill the machine.
const writePause = 100 * time.Millisecond

// Reembed changes the embedding model under readers and writers, kills the process that does it, starts it
// again, and compares what searches found. It drops the old vectors at the end.
func Reembed(ctx context.Context, e *Engine, opts *ReembedOptions) (*ReembedResults, error) {
	r := &reembedding{
		results: &ReembedResults{From: nameOf(e.Embedder), Rows: opts.Rows, Tenants: opts.Tenants, To: nameOf(opts.Next)},
		opts:    opts, scale: &scale{Engine: e, opts: &ScaleOptions{Rows: opts.Rows, Seed: opts.Seed}, results: &ScaleResults{}},
	}
	r.results.App = fmt.Sprintf("bench-reembed-%d-%d-%d", opts.Rows, opts.Tenants, opts.Seed)
	return r.results, r.run(ctx)
}

func nameOf(e model.Embedder) string {
	return fmt.Sprintf("%s, %d dimensions", e.Name(), e.Dimension())
}

type reembedding struct {
	*scale
	opts    *ReembedOptions
	results *ReembedResults
	old     *service.OpenMemoryService
	next    *service.OpenMemoryService

	reader atomic.Pointer[service.OpenMemoryService] // with which model readers search
	lock   sync.Mutex
	times  []time.Duration // of the phase that goes on
}

func (r *reembedding) run(ctx context.Context) (err error) {
	r.space, r.tenants = newSpace(r.opts.Seed, 1), tenantSizes(r.opts.Rows, r.opts.Tenants, nil)
	r.scale.results.App = r.results.App
	if _, err := r.load(ctx); err != nil {
		return err
	}
	if r.old, err = r.NewService(&service.Config{Embedder: r.Embedder}); err != nil {
		return err
	}
	r.reader.Store(r.old)
	return r.WithWorker(ctx, func(*worker.Worker) error {
		serving, err := db.New().EmbeddingModelServing(ctx, r.Pool)
		if err != nil {
			return fmt.Errorf("read which model serves: %w", err)
		}
		if r.results.First, err = r.wait(ctx, serving.Generation, "embedding the corpus", func(p *db.EmbeddingProgress) bool {
			return p.Waiting == 0
		}); err != nil {
			return err
		}
		before, err := r.ask(ctx, r.old)
		if err != nil {
			return err
		}
		return r.under(ctx, func(ctx context.Context) error { return r.change(ctx, serving.Generation, before) })
	})
}

// change is what happens while clients read and write.
func (r *reembedding) change(ctx context.Context, from int32, before [][]string) error {
	out := r.results
	out.Before = r.watch(ctx, r.opts.Watch)
	begun, err := db.New().EmbeddingGenerationStart(ctx, r.Pool, &db.EmbeddingGenerationStartParams{
		Dimension: int32(r.opts.Next.Dimension()), Model: r.opts.Next.Name(),
	})
	if err != nil {
		return fmt.Errorf("begin a generation: %w", db.Wrap(err))
	}
	start := time.Now()
	if err := r.fill(ctx, begun.Generation); err != nil {
		return err
	}
	out.Fill = time.Since(start).Seconds()
	out.During = r.watch(ctx, 0)
	if out.Lacking, err = r.lacking(ctx, begun.Generation); err != nil {
		return err
	}
	start = time.Now()
	_, err = db.New().EmbeddingGenerationSwitch(ctx, r.Pool, &db.EmbeddingGenerationSwitchParams{Generation: begun.Generation})
	if err != nil {
		return fmt.Errorf("switch: %w", db.Wrap(err))
	}
	out.Switch = time.Since(start).Seconds()
	// Now a service can be started with the new model; those of the old one go on.
	if r.next, err = r.NewService(&service.Config{Embedder: r.opts.Next}); err != nil {
		return err
	}
	r.reader.Store(r.next)
	r.watch(ctx, 0) // what was counted and switched meanwhile is of neither
	out.After = r.watch(ctx, r.opts.Watch)
	after, err := r.ask(ctx, r.next)
	if err != nil {
		return err
	}
	r.compare(before, after)
	start = time.Now()
	for {
		left, err := db.New().EmbeddingGenerationDrop(ctx, r.Pool, from)
		if err != nil {
			return fmt.Errorf("drop the old generation: %w", db.Wrap(err))
		}
		if left == 0 {
			break
		}
	}
	out.Drop = time.Since(start).Seconds()
	return nil
}

// fill runs the process that fills, kills it on the way, and runs another one.
func (r *reembedding) fill(ctx context.Context, generation int32) error {
	filler, err := r.opts.Fill(ctx)
	if err != nil {
		return fmt.Errorf("start the process that embeds: %w", err)
	}
	if r.opts.KillAt > 0 {
		_, err := r.wait(ctx, generation, "embedding anew, until it is killed", func(p *db.EmbeddingProgress) bool {
			r.results.KilledAt = max(p.Looked-p.Waiting, 0)
			return r.results.KilledAt > 0 && float64(r.results.KilledAt) >= r.opts.KillAt*float64(r.opts.Rows)
		})
		if err = errors.Join(err, filler.Kill()); err != nil {
			return err
		}
		_ = filler.Wait() // it was killed
		if filler, err = r.opts.Fill(ctx); err != nil {
			return fmt.Errorf("start the process that embeds again: %w", err)
		}
	}
	bar := r.Progress(-1, "embedding anew")
	defer bar.Finish()
	if err := filler.Wait(); err != nil {
		return fmt.Errorf("the process that embeds: %w", err)
	}
	return nil
}

// wait waits until a generation is as far as it should be, and tells how long that took, in seconds.
func (r *reembedding) wait(ctx context.Context, number int32, what string, done func(*db.EmbeddingProgress) bool) (float64, error) {
	bar := r.Progress(-1, what)
	defer bar.Finish()
	start := time.Now()
	for {
		p, err := db.New().EmbeddingProgress(ctx, r.Pool, number)
		if err != nil {
			return 0, fmt.Errorf("look how far the embedding is: %w", db.Wrap(err))
		}
		if done(p) {
			return time.Since(start).Seconds(), nil
		}
		bar.Add(1)
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(lookPoll):
		}
	}
}

// under runs fn beside readers and writers.
func (r *reembedding) under(ctx context.Context, fn func(ctx context.Context) error) error {
	during, stop := context.WithCancel(ctx)
	var clients errgroup.Group
	for i := range r.opts.Readers {
		clients.Go(func() error { r.read(during, uint64(i)); return nil })
	}
	for i := range r.opts.Writers {
		clients.Go(func() error { return r.write(during, uint64(i)) })
	}
	err := fn(ctx)
	stop()
	return errors.Join(err, clients.Wait())
}

func (r *reembedding) read(ctx context.Context, stream uint64) {
	source := r.space.source(2*streamProbes + stream)
	for n := 0; ctx.Err() == nil; n++ {
		tenant := r.tenants[n%len(r.tenants)]
		start := time.Now()
		found, err := r.reader.Load().SearchMemory(ctx, r.scope(tenant), source.query(), &service.SearchOptions{SkipAccess: true})
		elapsed := time.Since(start)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			atomic.AddInt64(&r.results.Failed, 1)
			pause(ctx, errorPause)
			continue
		case found.Degraded:
			atomic.AddInt64(&r.results.Degraded, 1)
		case len(found.Memories) == 0:
			atomic.AddInt64(&r.results.Empty, 1)
		}
		r.lock.Lock()
		r.times = append(r.times, elapsed)
		r.lock.Unlock()
	}
}

func (r *reembedding) write(ctx context.Context, stream uint64) error {
	source := r.space.source(3*streamProbes + stream)
	scope := service.Scope{AppName: r.results.App, UserID: fmt.Sprintf("writer-%d", stream)}
	for ctx.Err() == nil {
		if _, err := r.old.Remember(ctx, scope, source.text(), nil); err != nil {
			if ctx.Err() == nil {
				return fmt.Errorf("remember: %w", err)
			}
			break // the end of the run
		}
		atomic.AddInt64(&r.results.Written, 1)
		pause(ctx, writePause)
	}
	return nil
}

// watch lets the readers go on for a time, and returns how long their searches took since the last time.
func (r *reembedding) watch(ctx context.Context, d time.Duration) Latency {
	pause(ctx, d)
	r.lock.Lock()
	defer r.lock.Unlock()
	times := r.times
	r.times = nil
	return latency(times)
}

// ask asks the questions that are compared. An answer is the found memories with their scores.
func (r *reembedding) ask(ctx context.Context, s *service.OpenMemoryService) ([][]string, error) {
	answers := make([][]string, r.opts.Queries)
	source := r.space.source(4 * streamProbes)
	for i := range answers {
		found, err := s.SearchMemory(ctx, r.scope(r.tenants[i%len(r.tenants)]), source.query(), &service.SearchOptions{SkipAccess: true})
		if err != nil {
			return nil, fmt.Errorf("ask a question: %w", err)
		}
		for _, m := range found.Memories {
			answers[i] = append(answers[i], fmt.Sprintf("%s %.9f", m.MemoryID, m.VectorScore))
		}
	}
	return answers, nil
}

func (r *reembedding) compare(before, after [][]string) {
	const idLength = 36
	all, both := 0, 0
	for i := range before {
		if slices.Equal(before[i], after[i]) {
			r.results.Same++
		}
		all += len(before[i])
		for _, b := range before[i] {
			if slices.ContainsFunc(after[i], func(a string) bool { return a[:idLength] == b[:idLength] }) {
				both++
			}
		}
	}
	r.results.Compared, r.results.Shared = len(before), float64(both)/float64(max(1, all))
}

// lacking counts the rows of the run that have no vector of a generation, but for those of the last moments.
func (r *reembedding) lacking(ctx context.Context, generation int32) (n int64, err error) {
	err = r.Pool.QueryRow(ctx, `SELECT count(*) FROM hippocampus.memories m
		WHERE m.app_name = $1 AND m.created_at < now() - make_interval(secs => $3) AND m.superseded_by IS NULL AND NOT EXISTS (
		    SELECT FROM hippocampus.embeddings e WHERE e.user_id = m.user_id AND e.app_name = m.app_name
		      AND e.generation = $2 AND e.source = 'memory' AND e.row_id = m.id)`, r.results.App, generation, lookTime.Seconds()).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count rows without a vector: %w", err)
	}
	return n, nil
}
