package bench

import (
	"context"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/riverqueue/river/rivertype"

	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// ScaleOptions are the options of [Scale].
type ScaleOptions struct {
	// Clients is how many search at once, after one alone.
	Clients int
	// Dimension must be the database's; 0 takes that.
	Dimension int
	// Fresh deletes the corpus first, if it is there.
	Fresh bool
	// Queries is how many searches are measured, each way, a tenant.
	Queries int
	// Rows is how many memories there are in all.
	Rows int
	// Seed makes the corpus and the queries.
	Seed uint64
	// Sizes are tenants to be measured.
	Sizes []int
	// Tenants is how many there are.
	Tenants int
}

// ScaleResults are the numbers of a scale run.
type ScaleResults struct {
	App       string          `json:"app"`
	Dimension int             `json:"dimension"`
	Seed      uint64          `json:"seed"`
	Rows      int             `json:"rows"`
	Tenants   int             `json:"tenants"`
	Load      *LoadedCorpus   `json:"load"`
	Index     float64         `json:"index_seconds"`
	Measured  []*TenantResult `json:"measured"`
	Sizes     []*RelationSize `json:"sizes"`
}

// Scale fills a database with a synthetic corpus, if it isn't there, has the worker build the vector
// indexes that its large tenants need, and measures search. If the context ends, what was measured is
// returned with the error.
func Scale(ctx context.Context, e *Engine, opts *ScaleOptions) (*ScaleResults, error) {
	s := &scale{Engine: e, opts: opts, results: &ScaleResults{Rows: opts.Rows, Seed: opts.Seed}}
	return s.results, s.run(ctx)
}

type scale struct {
	*Engine
	generation int // of the embeddings
	opts       *ScaleOptions
	results    *ScaleResults
	space      *space
	tenants    []tenantSize
}

// prepare loads the corpus and has its vector indexes built.
func (s *scale) prepare(ctx context.Context) error {
	r := s.results
	err := s.Pool.QueryRow(ctx, "SELECT g.dimension, g.generation FROM hippocampus.embedding_models g WHERE g.status = 'serving'").
		Scan(&r.Dimension, &s.generation)
	if err != nil {
		return fmt.Errorf("read the embedding dimension: %w", err)
	}
	if s.opts.Dimension != 0 && s.opts.Dimension != r.Dimension {
		return fmt.Errorf("the database has %d dimensions, not %d: make another with migrate up --dimension %d",
			r.Dimension, s.opts.Dimension, s.opts.Dimension)
	}
	s.space = newSpace(s.opts.Seed, r.Dimension)
	s.tenants = tenantSizes(s.opts.Rows, s.opts.Tenants, s.opts.Sizes)
	r.Tenants = len(s.tenants)
	// As short as the names of apps are: they stand in every row of every index.
	r.App = fmt.Sprintf("scale-%08x", crc32.ChecksumIEEE(fmt.Appendf(nil, "%d %d %d", s.opts.Rows, s.opts.Tenants, s.opts.Seed)))
	if r.Load, err = s.load(ctx); err != nil {
		return err
	}
	r.Index, err = s.buildIndexes(ctx)
	return err
}

func (s *scale) run(ctx context.Context) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	r := s.results
	var err error
	if r.Sizes, err = relationSizes(ctx, s.Pool); err != nil {
		return err
	}
	for i, t := range s.tenants {
		if !t.fixed {
			continue
		}
		measured, err := s.measure(ctx, t, uint64(i))
		if measured != nil {
			r.Measured = append(r.Measured, measured)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.user, err)
		}
	}
	return nil
}

func (s *scale) scope(t tenantSize) service.Scope {
	return service.Scope{AppName: s.results.App, UserID: t.user}
}

// indexPoll is how often the job that builds indexes is looked at.
const indexPoll = 100 * time.Millisecond

// buildIndexes runs the worker's job that gives large tenants an index, and tells how long it took.
func (s *scale) buildIndexes(ctx context.Context) (float64, error) {
	bar := s.Progress(-1, "building vector indexes")
	start := time.Now()
	err := s.WithWorker(ctx, func(w *worker.Worker) error {
		inserted, err := w.Client().Insert(ctx, worker.IndexArgs{}, nil)
		if err != nil {
			return fmt.Errorf("enqueue the building of indexes: %w", err)
		}
		for {
			// One that the worker enqueued at its start may be at work already: then ours ends at once.
			var busy int
			err := s.Pool.QueryRow(ctx, `SELECT count(*) FROM hippocampus.river_job r
				WHERE r.kind = $1 AND r.state NOT IN ('completed', 'cancelled', 'discarded')`, worker.IndexArgs{}.Kind()).Scan(&busy)
			if err != nil {
				return fmt.Errorf("look at the building of indexes: %w", err)
			}
			if busy == 0 {
				break
			}
			bar.Add(1)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(indexPoll):
			}
		}
		job, err := w.Client().JobGet(ctx, inserted.Job.ID)
		if err != nil {
			return fmt.Errorf("look at the building of indexes: %w", err)
		}
		if job.State != rivertype.JobStateCompleted {
			return fmt.Errorf("the building of indexes is %s: %v", job.State, job.Errors)
		}
		return nil
	})
	bar.Finish()
	return time.Since(start).Seconds(), err
}
