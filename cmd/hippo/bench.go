package main

import (
	"context"
	"errors"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/bench"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/worker"
)

func (a *app) bench() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure recall, latency and load",
		Long: `Measures Hippocampus through its own front door. What a run logs stays in the database,
under apps whose names begin with "bench-": use a database of its own.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_ = cmd.Help()
			return usageError{errors.New("say what is to be measured")}
		},
	}
	cmd.AddCommand(a.benchBudget(), a.benchCorf(), a.benchLoad(), a.benchRecall(), a.benchReembed(), a.benchRetention(), a.benchScale(), a.benchTiers())
	return cmd
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
			WithWorker: func(ctx context.Context, fn func(*worker.Worker) error) error { return a.besideWorker(ctx, e, fn) },
		}
		if vectors {
			b.Embedder = e.models.Embedder
		}
		return fn(b)
	})
}

// besideWorker runs a worker in this process beside fn, and lets fn have it.
func (a *app) besideWorker(ctx context.Context, e *engine, fn func(*worker.Worker) error) error {
	w, err := worker.New(e.pool, &worker.Config{Counter: e.counter, Logger: a.logger(), Models: e.models})
	if err != nil {
		return err
	}
	if err := w.Start(ctx); err != nil {
		return err
	}
	err = fn(w)
	if stopErr := w.Stop(context.WithoutCancel(ctx)); err == nil {
		err = stopErr
	}
	return err
}

// bar is a bar that has nobody to tell that it can't be drawn.
type bar struct{ *progressbar.ProgressBar }

// Add counts what was done.
func (b bar) Add(n int) { _ = b.ProgressBar.Add(n) }

// Finish takes the bar away.
func (b bar) Finish() { _ = b.ProgressBar.Finish() }
