package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hippocampus-memory/hippocampus/assembler"
	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/provider"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// work works until the context ends, or until nothing is left to do.
func (a *app) work(ctx context.Context) (err error) {
	if err := a.complete(ctx); err != nil {
		return err
	}
	pool, err := db.NewPool(ctx, &db.Config{
		ApplicationName: "hippocampus worker on " + hostname(), DatabaseURL: a.databaseURL, Logger: a.config.Logger,
		MaxConns: a.maxConns,
	})
	if err != nil {
		return command.Argument(err)
	}
	defer pool.Close()
	if err := worker.CheckRights(ctx, pool); err != nil {
		return err
	}
	models, err := a.openModels(ctx, pool)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, models.Close()) }()
	counter, err := assembler.CounterOf(ctx, pool)
	if err != nil {
		return err
	}
	a.config.Counter = counter
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	a.config.Metrics = registry
	a.config.Models = models
	w, err := worker.New(pool, &a.config)
	if err != nil {
		return command.Usage(a.inFlags(err))
	}
	server, err := a.serve(ctx, w, registry)
	if err != nil {
		return err
	}
	// Detached: the end of ctx asks for a stop, which takes its time.
	if err := w.Start(context.WithoutCancel(ctx)); err != nil {
		return errors.Join(err, server.close())
	}
	a.config.Logger.InfoContext(ctx, "the worker has started", "client", w.Client().ID(),
		"embedder", models.Embedder.Name(), "chat", a.chatModel, "http", server.address)
	var drainErr error
	if a.once {
		if drainErr = w.Drain(ctx); ctx.Err() == nil {
			drainErr = errors.Join(drainErr, a.tellFailed(ctx, pool))
		}
	} else {
		select {
		case <-ctx.Done():
		case <-w.Client().Stopped():
			drainErr = errors.New("the worker has stopped by itself")
		}
	}
	a.config.Logger.InfoContext(ctx, "the worker stops", "wait", a.config.StopTimeout.String())
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.config.StopTimeout+30*time.Second)
	defer cancel()
	err = errors.Join(drainErr, w.Stop(stopCtx), server.close())
	if a.once { // after the last job has returned
		err = errors.Join(err, a.tellDone(w.Done()))
	}
	return err
}

// tellDone says what was done. That a consolidation failed is an error.
func (a *app) tellDone(done worker.Done) error {
	failed, err := "", error(nil)
	if done.Failed > 0 {
		failed = fmt.Sprintf(", %d failed", done.Failed)
		err = fmt.Errorf("%s failed: hippocampus.consolidation_jobs says why; enqueue them again",
			command.Count(done.Failed, "consolidation", "consolidations"))
	}
	fmt.Fprintf(a.stdout, "%s done%s, %s embedded, tokens of %s counted\n", command.Count(done.Consolidations, "consolidation", "consolidations"), failed,
		command.Count(done.Embedded, "row", "rows"), command.Count(done.Counted, "row", "rows"))
	return err
}

// tellFailed tells of consolidations that nobody tries again.
func (a *app) tellFailed(ctx context.Context, pool *pgxpool.Pool) error {
	jobs, err := db.New().JobCountByStatus(ctx, pool)
	if err != nil {
		return fmt.Errorf("look for jobs that failed: %w", db.Wrap(err))
	}
	for _, j := range jobs {
		if j.Status == "failed" {
			a.config.Logger.WarnContext(ctx, "consolidations have failed: see hippocampus.consolidation_jobs", "jobs", j.Jobs)
		}
	}
	return nil
}

// openModels opens the models; their dimension is the database's where nobody says otherwise.
func (a *app) openModels(ctx context.Context, pool *pgxpool.Pool) (*model.Models, error) {
	serving, err := db.New().EmbeddingModelServing(ctx, pool)
	if err != nil {
		return nil, fmt.Errorf("read the dimension of the database's vectors: %w", db.Wrap(err))
	}
	if err := checkDimension(a.modelEnv(provider.EnvDimension)); err != nil {
		return nil, err
	}
	config, err := provider.FromEnv(func(name string) string {
		value := a.modelEnv(name)
		if name == provider.EnvDimension && value == "" {
			value = strconv.Itoa(int(serving.Dimension))
		}
		return value
	})
	if err != nil {
		return nil, command.Usage(err)
	}
	config.Gemini.Limits.Logger = a.config.Logger
	config.OpenAI.Limits.Logger = a.config.Logger
	models, err := provider.Open(ctx, config)
	if err != nil {
		return nil, command.Usagef("open the models: %w", err)
	}
	a.chatModel = config.ChatModelName()
	return models, nil
}

// checkDimension refuses a dimension that no database has, in the words of migrate.
func checkDimension(text string) error {
	if n, err := strconv.Atoi(text); err == nil && (n < 1 || n > db.MaxDimension) {
		return command.Usagef("--dimension is %d, but must be between 1 and %d", n, db.MaxDimension)
	}
	return nil // what is no number, the provider refuses
}

// httpServer answers health checks and scrapes; without an address it does nothing.
type httpServer struct {
	address string
	server  *http.Server
}

// serve answers before the worker has started, so that a probe tells a slow start from a dead
// process.
func (a *app) serve(ctx context.Context, w *worker.Worker, registry *prometheus.Registry) (*httpServer, error) {
	if a.httpAddress == "" {
		return &httpServer{}, nil
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(response http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(response, "ok")
	})
	mux.HandleFunc("GET /readyz", func(response http.ResponseWriter, request *http.Request) {
		ctx, cancel := context.WithTimeout(request.Context(), 5*time.Second)
		defer cancel()
		if err := w.Ready(ctx); err != nil {
			a.config.Logger.WarnContext(ctx, "not ready", "error", err)
			http.Error(response, "not ready: see the log", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(response, "ok")
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", a.httpAddress)
	if err != nil {
		return nil, fmt.Errorf("listen on --http: %w", err)
	}
	s := &httpServer{
		address: listener.Addr().String(),
		server:  &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second},
	}
	go func() {
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			a.config.Logger.ErrorContext(ctx, "health checks and scrapes get no answer any more", "error", err)
		}
	}()
	return s, nil
}

func (s *httpServer) close() error {
	if s.server == nil {
		return nil
	}
	return s.server.Close()
}
