package service

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// Cluster is a group of memories close in time and meaning, which a sleep made and named. It is a
// memory itself, of type summary, with the same id: search finds it.
type Cluster struct {
	ID        uuid.UUID `json:"id"`
	Name      string    `json:"name"`
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at"`
	Members   int       `json:"members"`
	CreatedAt time.Time `json:"created_at"`
	// Model named it.
	Model string `json:"model,omitempty"`
}

// ClustersOptions are the options of [OpenMemoryService.Clusters].
type ClustersOptions struct {
	// From and Until keep to clusters that reach into a time.
	//
	// Default to all time.
	From, Until *time.Time

	// Limit is the greatest number, 1 to 10,000.
	//
	// Defaults to 50.
	Limit int
}

// Clusters gives the clusters of a user's memories, newest first.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument].
func (s *OpenMemoryService) Clusters(ctx context.Context, scope Scope, opts *ClustersOptions) ([]*Cluster, error) {
	return s.clusters(ctx, s.bound(scope), scope, opts)
}

// ClustersTx gives clusters as [OpenMemoryService.Clusters] does.
//
// This variant joins the caller's transaction. See the package's section on transactions.
func (s *OpenMemoryService) ClustersTx(
	ctx context.Context, tx pgx.Tx, scope Scope, opts *ClustersOptions,
) (found []*Cluster, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		found, err = s.clusters(ctx, tx, scope, opts)
		return err
	})
	return found, err
}

func (s *OpenMemoryService) clusters(ctx context.Context, conn db.DBTX, scope Scope, opts *ClustersOptions) ([]*Cluster, error) {
	o := orValue(opts, ClustersOptions{})
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	limit, err := checkLimit(o.Limit, 50)
	if err != nil {
		return nil, err
	}
	rows, err := s.queries.LinkListClusters(ctx, conn, &db.LinkListClustersParams{
		AppName: scope.AppName, EndAt: o.Until, MaxRows: limit, StartAt: o.From, UserID: scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("list clusters: %w", db.WrapGo(err))
	}
	found := make([]*Cluster, len(rows))
	for i, row := range rows {
		found[i] = &Cluster{
			CreatedAt: row.CreatedAt, EndedAt: row.EndedAt, ID: row.ID, Members: int(row.Members), Model: deref(row.Model),
			Name: row.Name, StartedAt: row.StartedAt,
		}
	}
	return found, nil
}

// ClusterMemories gives the memories of a cluster, oldest first, at most limit of them, 50 for 0;
// none where it is unknown, or was forgotten with one of them.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument].
func (s *OpenMemoryService) ClusterMemories(ctx context.Context, scope Scope, id uuid.UUID, limit int) ([]*Recollection, error) {
	return s.clusterMemories(ctx, s.bound(scope), scope, id, limit)
}

// ClusterMemoriesTx gives a cluster's memories as [OpenMemoryService.ClusterMemories] does.
//
// This variant joins the caller's transaction. See the package's section on transactions.
func (s *OpenMemoryService) ClusterMemoriesTx(
	ctx context.Context, tx pgx.Tx, scope Scope, id uuid.UUID, limit int,
) (found []*Recollection, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		found, err = s.clusterMemories(ctx, tx, scope, id, limit)
		return err
	})
	return found, err
}

func (s *OpenMemoryService) clusterMemories(
	ctx context.Context, conn db.DBTX, scope Scope, id uuid.UUID, limit int,
) ([]*Recollection, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	most, err := checkLimit(limit, 50)
	if err != nil {
		return nil, err
	}
	rows, err := s.queries.LinkClusterMemories(ctx, conn, &db.LinkClusterMemoriesParams{
		AppName: scope.AppName, ClusterID: id, MaxRows: most, UserID: scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("read a cluster: %w", db.WrapGo(err))
	}
	return recollections(rows), nil
}

// SleepReport is what a sleep did, in numbers.
type SleepReport struct {
	ID uuid.UUID `json:"id"`
	// Status is pending, running, completed or failed.
	Status string `json:"status"`
	// Error is why it failed.
	Error       string      `json:"error,omitempty"`
	Links       int         `json:"links"`
	Tagged      int         `json:"tagged"`
	Merged      int         `json:"merged"`
	Clusters    int         `json:"clusters"`
	Insights    int         `json:"insights"`
	ModelCalls  int         `json:"model_calls"`
	ChangedIDs  []uuid.UUID `json:"changed_ids"` // memories that were changed or made, the first 1,000
	CreatedAt   time.Time   `json:"created_at"`
	StartedAt   *time.Time  `json:"started_at,omitempty"`
	CompletedAt *time.Time  `json:"completed_at,omitempty"`
}

// EnqueueSleep asks for a sleep: a worker links and tags the user's memories, merges those that say
// the same, and names clusters and draws insights as far as the policy's budget of model calls goes.
// One waits at a time; asked again, it is that one. It needs the rights of hippocampus_service.
//
// Errors: [db.ErrInvalidScope]; [db.ErrPermission].
func (s *OpenMemoryService) EnqueueSleep(ctx context.Context, scope Scope) (reportID uuid.UUID, err error) {
	return s.enqueueSleep(ctx, s.pool, scope)
}

// EnqueueSleepTx asks for a sleep as [OpenMemoryService.EnqueueSleep] does.
//
// This variant joins the caller's transaction, with the rights that it has: the sleep begins when it
// commits.
func (s *OpenMemoryService) EnqueueSleepTx(ctx context.Context, tx pgx.Tx, scope Scope) (reportID uuid.UUID, err error) {
	return s.enqueueSleep(ctx, tx, scope)
}

func (s *OpenMemoryService) enqueueSleep(ctx context.Context, conn db.DBTX, scope Scope) (uuid.UUID, error) {
	if err := checkScope(scope); err != nil {
		return uuid.Nil, err
	}
	id, err := s.queries.SleepEnqueue(ctx, conn, &db.SleepEnqueueParams{AppName: scope.AppName, UserID: scope.UserID})
	if err != nil {
		return uuid.Nil, fmt.Errorf("enqueue a sleep: %w", db.WrapGo(err))
	}
	return id, nil
}

// SleepReports tells what a user's sleeps did, the newest first, at most limit of them, 50 for 0.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument].
func (s *OpenMemoryService) SleepReports(ctx context.Context, scope Scope, limit int) ([]*SleepReport, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	most, err := checkLimit(limit, 50)
	if err != nil {
		return nil, err
	}
	rows, err := s.queries.SleepListReports(ctx, s.bound(scope), &db.SleepListReportsParams{
		AppName: scope.AppName, MaxRows: most, UserID: scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("list sleeps: %w", db.WrapGo(err))
	}
	reports := make([]*SleepReport, len(rows))
	for i, row := range rows {
		reports[i] = &SleepReport{
			ChangedIDs: row.ChangedIds, Clusters: int(row.Clusters), CompletedAt: row.CompletedAt, CreatedAt: row.CreatedAt,
			Error: deref(row.Error), ID: row.ID, Insights: int(row.Insights), Links: int(row.Links), Merged: int(row.Merged),
			ModelCalls: int(row.ModelCalls), StartedAt: row.StartedAt, Status: row.Status, Tagged: int(row.Tagged),
		}
	}
	return reports, nil
}
