package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hippocampus-memory/hippocampus/assembler"
	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/provider"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/worker"
)

func (a *app) logger() *slog.Logger {
	if a.verbose {
		return slog.New(slog.NewTextHandler(a.stderr, nil))
	}
	return slog.New(slog.DiscardHandler)
}

// warner tells of what goes wrong in the background, where a command waits for it: nobody else would. With -v it
// tells of a level more.
func (a *app) warner(verbose slog.Level) *slog.Logger {
	level := slog.LevelWarn
	if a.verbose {
		level = verbose
	}
	return slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: level}))
}

func (a *app) url() string { return cmp.Or(a.databaseURL, a.getenv("DATABASE_URL")) }

func (a *app) openPool(ctx context.Context) (*pgxpool.Pool, error) {
	pool, err := db.NewPool(ctx, &db.Config{ApplicationName: "hippo", DatabaseURL: a.url(), Logger: a.logger(), MaxConns: 16})
	return pool, command.Argument(err)
}

// openMigrated opens the pool on a database that has the schema of this binary.
func (a *app) openMigrated(ctx context.Context) (*pgxpool.Pool, error) {
	pool, err := a.openPool(ctx)
	if err != nil {
		return nil, err
	}
	if err := db.CheckCompatible(ctx, pool); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

// engine is what the commands work with: the pool, the models the environment names, and the
// service over both.
type engine struct {
	counter *assembler.Counter
	models  *model.Models
	pool    *pgxpool.Pool
	service *service.OpenMemoryService
}

// withEngine opens the engine for fn.
func (a *app) withEngine(ctx context.Context, fn func(*engine) error) error {
	pool, err := a.openMigrated(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	models, err := a.openModels(ctx, pool)
	if err != nil {
		return err
	}
	defer models.Close() //nolint:errcheck // nothing is left to be done with them
	defer a.clearBar()
	s, err := service.New(pool, &service.Config{
		Classifier: models.Classifier, Embedder: models.Embedder, Logger: a.logger(),
		MaxEmbedChars: models.MaxEmbedChars, MaxEmbedTokens: models.MaxEmbedTokens, Reflector: models.Reflector,
	})
	if err != nil {
		return fitting(err)
	}
	return fn(&engine{counter: s.Counter(), models: models, pool: pool, service: s})
}

// openModels opens the models that the environment names, at the dimension that the database has.
func (a *app) openModels(ctx context.Context, pool *pgxpool.Pool) (*model.Models, error) {
	config, err := provider.FromEnv(a.getenv)
	if err != nil {
		return nil, command.Usage(err)
	}
	serving, err := db.New().EmbeddingModelServing(ctx, pool)
	if err != nil {
		return nil, fmt.Errorf("read the embedding dimension: %w", db.Wrap(err))
	}
	if config.Dimension == 0 {
		config.Dimension = int(serving.Dimension)
	}
	config.Gemini.Limits.Logger, config.OpenAI.Limits.Logger = a.logger(), a.logger()
	models, err := provider.Open(ctx, config)
	if err != nil {
		return nil, command.Usagef("open the models: %w", err)
	}
	return models, nil
}

// fitting adds to an error of models that don't fit the database what can be done about it.
func fitting(err error) error {
	switch {
	case errors.Is(err, db.ErrEmbeddingModel):
		return fmt.Errorf("%w. Vectors of two models can't be compared: set %s (and %s) to the database's, or change the model with hippo reembed",
			err, provider.EnvEmbedder, provider.EnvEmbedModel)
	case errors.Is(err, db.ErrDimension):
		return fmt.Errorf("%w. Unset %s, so that it is the database's, or use a fresh database of the other dimension "+
			"(migrate up --dimension)", err, provider.EnvDimension)
	}
	return err
}

// withWorker runs a worker in this process beside fn, and lets fn have it.
func (a *app) withWorker(ctx context.Context, e *engine, fn func(*worker.Worker) error) error {
	w, err := worker.New(e.pool, &worker.Config{Counter: e.counter, Logger: a.warner(slog.LevelInfo), Models: e.models})
	if err != nil {
		return err
	}
	if err := w.Start(ctx); err != nil {
		return err
	}
	err = fn(w)
	// What is running may finish, or is started again by another worker.
	if stopErr := w.Stop(context.WithoutCancel(ctx)); err == nil {
		err = stopErr
	}
	return err
}
