package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
	"golang.org/x/time/rate"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
)

// schema is where River's tables are.
const schema = "hippocampus"

// Worker works on the jobs of a database. Make it with [New].
type Worker struct {
	client  *river.Client[pgx.Tx]
	config  *Config
	cancel  context.CancelFunc
	ctx     context.Context //nolint:containedctx // the life of what River calls without a context
	logger  *slog.Logger
	metrics *metrics
	pool    *pgxpool.Pool
	queries *db.Queries
	started atomic.Bool

	// what this process has done; see [Worker.Done]
	finished, failed, embedded, counted, storing atomic.Int64

	// taken are the queues that this worker takes jobs from.
	taken struct {
		sync.Mutex
		generations []int32 // of embeddings, each of which has a queue
		shared      bool    // those of all workers, too
	}

	// embedRate bounds how many rows are embedded by jobs; nil for no bound.
	embedRate *rate.Limiter

	paused pausedQueues

	// dropped is whether the deployment has no vectors of this worker's model any more.
	dropped atomic.Bool

	// embedSize is how many rows the embedder was found to manage in the time of one call; see callSize.
	embedSize atomic.Int64

	// embedPause keeps this process from asking an embedder that asked for patience.
	embedPause pause

	// refused is why the embedder makes no vector until somebody has mended a setting; nil once it has made one.
	refused atomic.Pointer[model.Error]
}

// New makes a worker. Its pool's login must be a member of hippocampus_worker. The pool needs a
// connection for listening, and one for each job that reads or writes at a time: 10 are plenty for
// the defaults. The caller closes pool and models, after [Worker.Stop].
//
// It fails for a configuration that can't work. It does not use the database yet.
func New(pool *pgxpool.Pool, config *Config) (*Worker, error) {
	if pool == nil || config == nil {
		return nil, errors.New("make a worker: pool and config are required")
	}
	config = config.WithDefaults()
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("make a worker: %w", err)
	}
	w := &Worker{config: config, logger: config.Logger, pool: pool, queries: db.New()}
	if config.MaxEmbedRate > 0 {
		w.embedRate = rate.NewLimiter(rate.Limit(config.MaxEmbedRate), config.embedRows())
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.metrics = newMetrics(w)
	models := *config.Models
	config.Models = &models
	w.metrics.instrument(&models)

	workers := river.NewWorkers()
	river.AddWorker(workers, &anchorWorker{Worker: w})
	river.AddWorker(workers, &consolidateWorker{Worker: w})
	river.AddWorker(workers, &countTokensWorker{Worker: w})
	river.AddWorker(workers, &embedWorker{Worker: w})
	river.AddWorker(workers, &harvestWorker{Worker: w})
	river.AddWorker(workers, &indexWorker{Worker: w})
	river.AddWorker(workers, &policyWorker{Worker: w})
	river.AddWorker(workers, &foldTermsWorker{Worker: w})
	river.AddWorker(workers, &retentionWorker{Worker: w})
	river.AddWorker(workers, &sleepWorker{Worker: w})

	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		// consolidation_jobs is the lasting record; of the sweeps nobody needs one for long.
		CompletedJobRetentionPeriod: time.Hour,

		ErrorHandler:      &errorHandler{w},
		FetchCooldown:     config.FetchCooldown,
		FetchPollInterval: config.FetchPollInterval,
		JobTimeout:        config.longest(),
		Logger:            slog.New(atLeast{Handler: config.Logger.Handler(), level: slog.LevelWarn}),
		Middleware:        []rivertype.Middleware{&jobMeter{metrics: w.metrics}},
		PeriodicJobs:      w.periodicJobs(),
		PollOnly:          config.PollOnly,
		Queues:            config.sharedQueues(), // until Start, which leaves them to others where it must
		// It would need the owner's rights.
		ReindexerIndexNames:  []string{},
		RescueStuckJobsAfter: config.RescueAfter,
		RetryPolicy:          retryPolicy{},
		Schema:               schema,
		SoftStopTimeout:      config.StopTimeout,
		Workers:              workers,
	})
	if err != nil {
		return nil, fmt.Errorf("make a worker: %w", err)
	}
	w.client = client
	if config.Metrics != nil {
		if err := config.Metrics.Register(w.metrics); err != nil {
			return nil, fmt.Errorf("make a worker: register metrics: %w", err)
		}
	}
	return w, nil
}

// Client is River's client: to insert jobs, cancel them, pause queues, or be told of events.
func (w *Worker) Client() *river.Client[pgx.Tx] { return w.client }

// Start checks that the database fits this binary and the embedder, and starts to work. It returns
// when the first jobs can be fetched. Cancelling the context stops the worker as Stop does.
//
// Errors: [db.ErrNotMigrated], [db.ErrDatabaseNewer], [db.ErrPermission], [db.ErrReadOnly]; [db.ErrDimension] and
// [db.ErrEmbeddingModel] where the embedder is not the deployment's.
func (w *Worker) Start(ctx context.Context) error {
	if err := w.check(ctx); err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	events, unsubscribe := w.client.Subscribe(river.EventKindQueuePaused, river.EventKindQueueResumed)
	context.AfterFunc(w.ctx, unsubscribe) // which ends followPauses
	go w.followPauses(w.ctx, events)
	if err := w.client.Start(ctx); err != nil {
		return fmt.Errorf("start the worker: %w", db.Wrap(err))
	}
	w.started.Store(true)
	go w.keepJoining()
	return nil
}

// Stop lets running jobs end for StopTimeout, then cancels them; they are started again by another
// worker. It returns when all have returned, or with the context's error when that ends first. A
// worker that was stopped can't be started again.
func (w *Worker) Stop(ctx context.Context) error {
	defer w.cancel()
	if err := w.client.Stop(ctx); err != nil {
		return fmt.Errorf("stop the worker: %w", err)
	}
	return nil
}

// EnqueueConsolidationTx asks for the consolidation of a thread in the caller's transaction: rolled
// back with it, started within milliseconds of its commit. It calls the SQL function
// enqueue_consolidation, as any other client can. jobType is [FastReplay], [DeepReflection] or
// [FullConsolidation]. It returns the id of the row in consolidation_jobs; one that waits already
// is returned again.
//
// Errors: [db.ErrThreadNotFound], [db.ErrInvalidJobType].
func EnqueueConsolidationTx(ctx context.Context, tx pgx.Tx, threadID uuid.UUID, jobType string) (uuid.UUID, error) {
	id, err := db.New().JobEnqueueConsolidation(ctx, tx, &db.JobEnqueueConsolidationParams{
		JobType: jobType, ThreadID: threadID,
	})
	if err != nil {
		return uuid.Nil, fmt.Errorf("enqueue a consolidation: %w", db.Wrap(err))
	}
	return id, nil
}

// check refuses a database on which this worker can't work.
func (w *Worker) check(ctx context.Context) error {
	if err := CheckRights(ctx, w.pool); err != nil {
		return err
	}
	if err := w.leaveShared(ctx); err != nil {
		return err
	}
	return w.join(ctx)
}

// sweepEmbeddings enqueues a job for each generation that something is left to do for: by the clock,
// as the safety net of the triggers.
func (w *Worker) sweepEmbeddings() {
	ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
	defer cancel()
	err := w.queries.EmbeddingDropRetired(ctx, w.pool)
	var due []int32
	if err == nil {
		due, err = w.queries.EmbeddingDueGenerations(ctx, w.pool)
	}
	for _, g := range due {
		if err == nil {
			_, err = w.client.Insert(ctx, EmbedArgs{Generation: g, Sweep: true}, &river.InsertOpts{UniqueOpts: once()})
		}
	}
	if err != nil && w.ctx.Err() == nil {
		w.logger.WarnContext(ctx, "can't look for rows to embed; will try again", "error", err)
	}
}

// once lets one job of a kind exist that has not ended: it works off all that is due.
func once() river.UniqueOpts {
	return river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
		rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}}
}

// periodicJobs are what River's leader enqueues by the clock.
func (w *Worker) periodicJobs() []*river.PeriodicJob {
	sweep := func(args river.JobArgs, due func(context.Context) (bool, error)) *river.PeriodicJob {
		return river.NewPeriodicJob(river.PeriodicInterval(w.config.SweepInterval),
			func() (river.JobArgs, *river.InsertOpts) {
				if !w.isDue(args.Kind(), due) {
					return nil, nil
				}
				return args, &river.InsertOpts{UniqueOpts: once()}
			}, &river.PeriodicJobOpts{ID: args.Kind(), RunOnStart: true})
	}
	jobs := []*river.PeriodicJob{
		river.NewPeriodicJob(river.PeriodicInterval(w.config.SweepInterval), func() (river.JobArgs, *river.InsertOpts) {
			w.sweepEmbeddings()
			return nil, nil
		}, &river.PeriodicJobOpts{ID: EmbedArgs{}.Kind(), RunOnStart: true}),
		sweep(CountTokensArgs{Sweep: true}, func(ctx context.Context) (bool, error) {
			return w.queries.TokenIsDue(ctx, w.pool)
		}),
		river.NewPeriodicJob(river.PeriodicInterval(foldInterval), func() (river.JobArgs, *river.InsertOpts) {
			if !w.isDue(FoldTermsArgs{}.Kind(), func(ctx context.Context) (bool, error) { return w.queries.TermsAreNoted(ctx, w.pool) }) {
				return nil, nil
			}
			return FoldTermsArgs{}, nil
		}, &river.PeriodicJobOpts{ID: FoldTermsArgs{}.Kind()}),
		river.NewPeriodicJob(river.PeriodicInterval(w.config.PolicyInterval), func() (river.JobArgs, *river.InsertOpts) {
			if !w.isDue(PolicyArgs{}.Kind(), func(ctx context.Context) (bool, error) { return w.queries.PolicyIsDue(ctx, w.pool) }) {
				return nil, nil
			}
			return PolicyArgs{}, nil
		}, &river.PeriodicJobOpts{ID: PolicyArgs{}.Kind(), RunOnStart: true}),
		river.NewPeriodicJob(river.PeriodicInterval(w.config.HarvestInterval), func() (river.JobArgs, *river.InsertOpts) {
			if !w.isDue(HarvestArgs{}.Kind(), func(ctx context.Context) (bool, error) {
				return w.queries.HarvestIsDue(ctx, w.pool, w.config.HarvestQuiet.Seconds())
			}) {
				return nil, nil
			}
			return HarvestArgs{}, nil
		}, &river.PeriodicJobOpts{ID: HarvestArgs{}.Kind(), RunOnStart: true}),
		river.NewPeriodicJob(w.config.AnchorSchedule, func() (river.JobArgs, *river.InsertOpts) {
			return AnchorArgs{}, nil
		}, &river.PeriodicJobOpts{ID: AnchorArgs{}.Kind()}),
		river.NewPeriodicJob(w.config.RetentionSchedule, func() (river.JobArgs, *river.InsertOpts) {
			return RetentionArgs{}, nil
		}, &river.PeriodicJobOpts{ID: RetentionArgs{}.Kind()}),
	}
	if !w.config.PollOnly { // an index is built by a session of its own, which a pooler can't give
		jobs = append(jobs, river.NewPeriodicJob(river.PeriodicInterval(w.config.SweepInterval), func() (river.JobArgs, *river.InsertOpts) {
			w.rescueKilled()
			return nil, nil
		}, &river.PeriodicJobOpts{ID: "rescue_killed", RunOnStart: true}), river.NewPeriodicJob(river.PeriodicInterval(w.config.IndexInterval),
			func() (river.JobArgs, *river.InsertOpts) { return IndexArgs{}, nil },
			&river.PeriodicJobOpts{ID: IndexArgs{}.Kind(), RunOnStart: true}))
	}
	return jobs
}

// isDue asks whether a sweep has something to do, so that one that has not leaves no rows behind.
func (w *Worker) isDue(kind string, due func(context.Context) (bool, error)) bool {
	ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
	defer cancel()
	is, err := due(ctx)
	if err != nil && w.ctx.Err() == nil {
		w.logger.WarnContext(ctx, "can't look for work; will try again", "kind", kind, "error", err)
	}
	return is && err == nil
}

// errorHandler puts failures where an operator looks: the log and the metrics.
type errorHandler struct{ *Worker }

// HandleError is told of every attempt that failed.
func (h *errorHandler) HandleError(ctx context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	level := slog.LevelWarn
	if h.countFailed(job) {
		level = slog.LevelError
	}
	h.logger.Log(ctx, level, "a job failed", "kind", job.Kind, "job", job.ID, "attempt", job.Attempt,
		"of", job.MaxAttempts, "error", err)
	return nil
}

// HandlePanic is told of every attempt that panicked.
func (h *errorHandler) HandlePanic(ctx context.Context, job *rivertype.JobRow, value any, trace string) *river.ErrorHandlerResult {
	h.countFailed(job)
	h.logger.ErrorContext(ctx, "a job panicked", "kind", job.Kind, "job", job.ID,
		"attempt", job.Attempt, "of", job.MaxAttempts, "panic", fmt.Sprint(value), "trace", trace)
	return nil
}

// countFailed says whether an attempt that failed was the last, and counts it.
func (h *errorHandler) countFailed(job *rivertype.JobRow) bool {
	last := job.Attempt >= job.MaxAttempts
	if last && job.Kind == (ConsolidateArgs{}).Kind() {
		h.failed.Add(1)
	}
	return last
}
