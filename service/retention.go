package service

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// CleanupOptions are the options of [OpenMemoryService.CleanupMemories]. The pointers tell nothing
// from zero: a threshold of 0 deletes nothing, a minimum age of 0 spares nothing.
type CleanupOptions struct {
	// DryRun counts what would be deleted, and deletes nothing.
	DryRun bool

	// MinAgeDays is the age that spares a memory that is younger, 0 to 36,500.
	//
	// Defaults to that of each memory's retention policy, which is 7 unless it was changed.
	MinAgeDays *int

	// Threshold is the score that spares a memory that is worth as much or more, 0 to 1.
	//
	// Defaults to that of each memory's retention policy, which is 0.1 unless it was changed.
	Threshold *float64
}

// CleanupResult is what a clean-up did.
type CleanupResult struct {
	// CleanedCount is how many memories were deleted, or would have been in a dry run.
	CleanedCount int `json:"cleaned_count"`
	// TotalMemories is how many there are now.
	TotalMemories int64 `json:"total_memories"`
	// AvgRetentionScore is their average score.
	AvgRetentionScore float64 `json:"avg_retention_score"`
	// DryRun says that nothing was deleted.
	DryRun bool `json:"dry_run"`
}

// CleanupMemories deletes a user's memories that have faded. A worker does so for all users by
// their policies; this is for doing it now, or otherwise.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument].
func (s *OpenMemoryService) CleanupMemories(ctx context.Context, scope Scope, opts *CleanupOptions) (result *CleanupResult, err error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	err = db.WithScope(ctx, s.pool, scope, func(tx pgx.Tx) error {
		result, err = s.cleanup(ctx, tx, &scope, opts)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// CleanupMemoriesTx cleans up as [OpenMemoryService.CleanupMemories] does.
//
// This variant joins the caller's transaction, so that the caller may look at what is left and
// still roll back. See the package's section on transactions.
func (s *OpenMemoryService) CleanupMemoriesTx(
	ctx context.Context, tx pgx.Tx, scope Scope, opts *CleanupOptions,
) (result *CleanupResult, err error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	err = joinScope(ctx, tx, scope, func() error {
		result, err = s.cleanup(ctx, tx, &scope, opts)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// CleanupAllMemories deletes the faded memories of every user of every app, in one transaction. It
// runs as the pool's login, which sees all of them only as a member of hippocampus_service.
//
// Errors: [db.ErrInvalidArgument]; [db.ErrPermission].
func (s *OpenMemoryService) CleanupAllMemories(ctx context.Context, opts *CleanupOptions) (result *CleanupResult, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		result, err = s.cleanup(ctx, tx, nil, opts)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

func (s *OpenMemoryService) cleanup(ctx context.Context, tx pgx.Tx, scope *Scope, opts *CleanupOptions) (*CleanupResult, error) {
	if opts == nil {
		opts = &CleanupOptions{}
	}
	params := &db.RetentionCleanupParams{DryRun: opts.DryRun, Now: s.now(), Threshold: opts.Threshold}
	after := &db.RetentionDistributionParams{Now: s.now()}
	if scope != nil {
		params.AppName, params.UserID = &scope.AppName, &scope.UserID
		after.AppName, after.UserID = &scope.AppName, &scope.UserID
	}
	if opts.MinAgeDays != nil {
		if *opts.MinAgeDays < 0 || *opts.MinAgeDays > maxAgeDays {
			return nil, fmt.Errorf("%w: MinAgeDays is %d, but must be 0 to %d", db.ErrInvalidArgument, *opts.MinAgeDays, maxAgeDays)
		}
		params.MinAgeDays = new(int32(*opts.MinAgeDays))
	}
	cleaned, err := s.queries.RetentionCleanup(ctx, tx, params)
	if err != nil {
		return nil, fmt.Errorf("clean up memories: %w", db.WrapGo(err))
	}
	bands, err := s.queries.RetentionDistribution(ctx, tx, after)
	if err != nil {
		return nil, fmt.Errorf("look at the memories that are left: %w", db.WrapGo(err))
	}
	return &CleanupResult{
		AvgRetentionScore: bands.AverageScore, CleanedCount: int(cleaned), DryRun: opts.DryRun, TotalMemories: bands.Total,
	}, nil
}

// RetentionDistribution is how well a user's memories are retained now.
type RetentionDistribution struct {
	Total int64 `json:"total"`
	// High counts scores of 0.7 and more, Medium of 0.3 and more, Low those below.
	High         int64   `json:"high"`
	Medium       int64   `json:"medium"`
	Low          int64   `json:"low"`
	AverageScore float64 `json:"average_score"`
}

// RetentionDistribution tells how well a user's memories are retained now.
//
// Errors: [db.ErrInvalidScope].
func (s *OpenMemoryService) RetentionDistribution(ctx context.Context, scope Scope) (*RetentionDistribution, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	row, err := s.queries.RetentionDistribution(ctx, s.bound(scope), &db.RetentionDistributionParams{
		AppName: &scope.AppName, Now: s.now(), UserID: &scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("look at retention: %w", db.WrapGo(err))
	}
	return new(RetentionDistribution(*row)), nil
}
