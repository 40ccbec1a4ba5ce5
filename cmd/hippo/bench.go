package main

import (
	"context"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/bench"
	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/worker"
)

func (a *app) bench() *cobra.Command {
	return command.Group(&cobra.Command{
		Use:   "bench",
		Short: "Measure recall, latency and load",
		Long: `Measures Hippocampus through its own front door. What a run logs stays in the database,
under apps whose names begin with "bench-": use a database of its own.`,
	}, a.benchBudget(), a.benchCorf(), a.benchLoad(), a.benchRecall(), a.benchReembed(), a.benchRetention(), a.benchScale(), a.benchTiers())
}

// withBench opens the engine for a run. Without vectors, queries are not embedded, and search is by
// words alone.
func (a *app) withBench(ctx context.Context, vectors bool, fn func(*bench.Engine) error) error {
	return a.withEngine(ctx, func(e *engine) error {
		b := &bench.Engine{
			NewService: func(config *service.Config) (*service.OpenMemoryService, error) {
				config.Counter, config.Logger, config.RequireEmbedding = e.counter, a.logger(), true
				return service.New(e.pool, config)
			},
			Pool:       e.pool,
			Progress:   func(total int, what string) bench.Bar { return bar{a.progress(total, what)} },
			WithWorker: func(ctx context.Context, fn func(*worker.Worker) error) error { return a.withWorker(ctx, e, fn) },
		}
		if vectors {
			b.Embedder = e.models.Embedder
		}
		return fn(b)
	})
}

// bar is a bar that has nobody to tell that it can't be drawn.
type bar struct{ *progressbar.ProgressBar }

// Add counts what was done.
func (b bar) Add(n int) { _ = b.ProgressBar.Add(n) }

// Finish takes the bar away.
func (b bar) Finish() { _ = b.ProgressBar.Finish() }
