package service

import (
	"context"
	"fmt"

	"github.com/hippocampus-memory/hippocampus/db"
)

// Stats are counts of what a user's memory holds.
type Stats struct {
	Threads            int64 `json:"threads"`
	Events             int64 `json:"events"`
	EventsConsolidated int64 `json:"events_consolidated"`
	Memories           int64 `json:"memories"`
	Episodic           int64 `json:"episodic"`
	Semantic           int64 `json:"semantic"`
	Summaries          int64 `json:"summaries"`
	FactsCurrent       int64 `json:"facts_current"`
	FactsHistory       int64 `json:"facts_history"`
	Blocks             int64 `json:"blocks"`
	Embeddings         int64 `json:"embeddings"`
	EmbeddingsQueued   int64 `json:"embeddings_queued"`
	JobsPending        int64 `json:"jobs_pending"`
	JobsRunning        int64 `json:"jobs_running"`
	JobsFailed         int64 `json:"jobs_failed"`
	// Tokens are those of the memories.
	Tokens int64 `json:"tokens"`
}

// Stats counts what a user's memory holds.
//
// Errors: [db.ErrInvalidScope].
func (s *OpenMemoryService) Stats(ctx context.Context, scope Scope) (*Stats, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	row, err := s.queries.AdminStats(ctx, s.bound(scope), &db.AdminStatsParams{AppName: &scope.AppName, UserID: &scope.UserID})
	if err != nil {
		return nil, fmt.Errorf("count memory: %w", db.WrapGo(err))
	}
	return new(Stats(*row)), nil
}

// Finding is one check of [OpenMemoryService.Doctor].
type Finding struct {
	// Name is what was looked at.
	Name string `json:"name"`
	// Status is ok, warning or error.
	Status string `json:"status"`
	// Detail is what was found.
	Detail string `json:"detail"`
	// Hint is what to do about it; empty where nothing is to be done.
	Hint string `json:"hint,omitempty"`
}

// Doctor checks the database and the pool's login, as which it runs: whether row-level security
// holds for it, versions with known faults, work that stands still.
//
// Errors: [db.ErrPermission].
func (s *OpenMemoryService) Doctor(ctx context.Context) ([]*Finding, error) {
	return Examine(ctx, s.pool)
}

// Examine is [OpenMemoryService.Doctor] for where no service can be made, as with an embedder that is not the
// deployment's.
func Examine(ctx context.Context, conn db.DBTX) ([]*Finding, error) {
	rows, err := db.New().AdminDoctor(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("run doctor: %w", db.WrapGo(err))
	}
	findings := make([]*Finding, len(rows))
	for i, row := range rows {
		findings[i] = new(Finding(*row))
	}
	return findings, nil
}
