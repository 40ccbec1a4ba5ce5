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
		return nil, fmt.Errorf("count memory: %w", db.Wrap(err))
	}
	return new(Stats(*row)), nil
}
