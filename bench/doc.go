// Package bench measures Hippocampus through its own front door: conversations are logged, a worker
// consolidates them, and searches are graded against what is known to answer them. See [Recall],
// [Scale], [Load], [Reembed] and [Budget].
package bench

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// Engine is what is measured.
type Engine struct {
	// Embedder makes the vectors of queries; nil to search by words alone.
	Embedder model.Embedder
	// NewService makes a service; searchers that each have a clock have a service each.
	NewService func(config *service.Config) (*service.OpenMemoryService, error)
	// Pool is of a login that sees all tenants.
	Pool *pgxpool.Pool
	// Progress begins a bar.
	Progress func(total int, what string) Bar
	// WithWorker runs a worker in this process beside fn.
	WithWorker func(ctx context.Context, fn func(*worker.Worker) error) error
}

// Bar shows a person how far a run is.
type Bar interface {
	Add(n int)
	Finish()
}
